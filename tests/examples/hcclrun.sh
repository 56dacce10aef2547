#!/usr/bin/env bash
# hcclrun.sh HCCLRUN: runs the launcher through what it promises.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
hcclrun=$1

# Ranks, the store, prefixes.
expect 0 $'[0] 0/3/0\n[1] 1/3/1\n[2] 2/3/2' "$hcclrun" -n 3 sh -c 'echo $RANK/$WORLD_SIZE/$LOCAL_RANK'
expect 0 '[0] tcp://127.0.0.1:' "$hcclrun" -n 1 sh -c 'echo $HCCL_STORE'
expect 0 '[1] oops' "$hcclrun" -n 2 sh -c 'echo oops >&2'

# A simulated device for each rank, unless the user says how many there are.
expect 0 '[0] 3' "$hcclrun" -n 3 sh -c 'echo $ACL_SIM_DEVICES'
expect 0 '[0] 5' env ACL_SIM_DEVICES=5 "$hcclrun" -n 1 sh -c 'echo $ACL_SIM_DEVICES'

# The options of the program stay with it.
expect 0 $'[0] -n\n[0] 5' "$hcclrun" -n 1 printf '%s\n' -n 5
expect 0 '[0] hello' "$hcclrun" -n 1 -- echo hello

# A last line without newline; the last state of a progress bar.
expect 0 $'[0] end\n[1] end' "$hcclrun" -n 2 printf end
expect 0 '[0] 100 %' "$hcclrun" -n 1 printf '10 %%\r100 %%\n'

# Only rank 0 has something to read.
expect 0 $'[0] in\n[1] done' bash -c 'echo in | "$0" -n 2 sh -c "cat; test \$RANK = 0 || echo done"' "$hcclrun"

# One failure ends all.
expect 7 'rank 1 failed first: it exited with code 7' \
  "$hcclrun" -n 3 sh -c 'test $RANK = 1 && exit 7; exec sleep 60'
expect 137 'rank 2 failed first: it was killed by signal 9' \
  "$hcclrun" -n 3 sh -c 'test $RANK = 2 && kill -9 $$; exec sleep 60'

# Misuse.
expect 127 'cannot run no-such-program: No such file or directory' "$hcclrun" -n 2 no-such-program
expect 2 'no program is given' "$hcclrun" -n 2
expect 105 'Value 0 not in range' "$hcclrun" -n 0 true

# A signal to the launcher reaches the ranks.
expect 3 '[0] stopped' timeout --foreground --signal INT --preserve-status 1 \
  "$hcclrun" -n 1 sh -c 'trap "echo stopped; exit 3" INT; while :; do sleep 0.1; done'

# A launcher that is killed takes its ranks along.
pids=$(mktemp)
"$hcclrun" -n 2 sh -c 'echo $$; exec sleep 60' >"$pids" &
launcher=$!
for _ in {1..100}; do (($(wc -l <"$pids") == 2)) && break || sleep 0.05; done
kill -KILL "$launcher"
wait "$launcher" 2>/dev/null
sleep 0.2
while read -r _ pid; do
  state=$(cut -d ' ' -f 3 "/proc/$pid/stat" 2>/dev/null)
  [[ ${state:-Z} == Z ]] || fail "kill -KILL hcclrun" "no rank left" "process $pid in state $state"
done <"$pids"
rm "$pids"

exit $((failures > 0))
