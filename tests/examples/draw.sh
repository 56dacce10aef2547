#!/usr/bin/env bash
# draw.sh DRAW DOCS: the pictures and the table in the folder DOCS are those that DRAW makes now, each has a page,
# and docs/algorithms.md leads to all pages.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
draw=$1 docs=$2
made=$(mktemp -d)
trap 'rm -r "$made"' EXIT

expect 0 '' "$draw" --all "$made"
for file in "$made"/*; do
  name=$(basename "$file")
  found=$(diff "$file" "$docs/$name" 2>&1 | head -n 5)
  [[ -z $found ]] || fail "$docs/$name" "what draw --all writes" "$found"
  (($(wc -c <"$file") < 40000)) || fail "$name" "less than 40 KB" "$(wc -c <"$file") bytes"
done
for page in "$docs"/*.md; do
  name=$(basename "$page" .md)
  grep -q "(algorithms/$name\.md)" "$docs/../algorithms.md" || fail docs/algorithms.md "a link to $name.md" "none"
  [[ $name == offers ]] || grep -q "($name\.svg)" "$page" || fail "$page" "the picture $name.svg" "none"
done
for picture in "$docs"/*.svg; do
  [[ -f $made/$(basename "$picture") ]] || fail "$picture" "a picture that draw --all writes" "none"
  [[ -f ${picture%.svg}.md ]] || fail "$picture" "a page beside it" "none"
done

# What a picture says.
expect 0 'binomial_tree: reduce, 5 ranks, hosts of 3, 2' "$draw" binomial_tree reduce --hosts 3 2 --root 4
expect 0 '3 rounds; a rank sends at most 1 message, together the whole buffer' \
  "$draw" binomial_tree reduce --ranks 5
expect 0 '<title>0 to 1: 2</title>' "$draw" ring reduce_scatter --ranks 3
expect 0 '</svg>' "$draw" ring allreduce --ranks 1

# Misuse.
expect 1 'no algorithm "ring" offers "scan"' "$draw" ring scan
expect 1 'root 8: there are 8 ranks' "$draw" ring reduce --root 8
expect 1 "cannot write $made/none/ring.svg" "$draw" --all "$made/none"
expect 105 'Value 0 not in range' "$draw" ring allreduce --ranks 0

exit $((failures > 0))
