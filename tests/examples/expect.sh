# Sourced by the tests of the examples.
failures=0

# expect CODE TEXT COMMAND...: runs the command, which must exit with the code and print the text. The lines of its
# output are sorted, since ranks write in any order, and left in $output.
expect() {
  local code=$1 text=$2 status
  shift 2
  output=$("$@" 2>&1 </dev/null)
  status=$?
  output=$(sort <<<"$output")
  [[ $status == "$code" && $output == *"$text"* ]] || fail "$*" "code $code and: $text" "code $status and: $output"
}

# fail WHAT EXPECTED FOUND
fail() {
  printf '%s\nexpected %s\nfound %s\n\n' "$@"
  failures=$((failures + 1))
}
