# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For bash: pipes, subshells, traps, coprocesses, process substitution, signals
# and a recursion that goes some MiB deep.
trap 'echo "caught USR1"' USR1
trap 'echo "bye with $?"' EXIT

depth() { if [ "$1" -gt 0 ]; then depth $(($1 - 1)); else echo "at the bottom"; fi; }

for i in 1 2 3 4 5; do echo "line $i"; done | sort -r | tr a-z A-Z
(exit 3) || echo "subshell: $?"
kill -USR1 $BASHPID
diff <(printf 'a\nb\n') <(printf 'a\nc\n') || echo "differ: $?"
coproc cat
echo "through a coprocess" >&"${COPROC[1]}"
read -r line <&"${COPROC[0]}"
echo "$line"
jobs=
for i in 1 2 3 4 5 6 7 8; do
  (exit "$i") &
  jobs="$jobs $!"
done
sum=0
for job in $jobs; do
  wait "$job"
  sum=$((sum + $?))
done
echo "jobs: $sum"
depth 2000
{ sh -c 'kill -SEGV $$'; } 2>/dev/null
echo "child died: $?"
ulimit -s 1024 && (depth 100)
declare -A map
for i in $(seq 500); do map[$i]=$((i * i)); done
echo "${#map[@]} ${map[77]}"
echo "on standard error" >&2
exit 7
