# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For bash: what scripts do with memory. Functions that recurse, arrays and maps
# that grow and shrink, long strings, subshells that inherit all of it and change
# it, pipes, here documents, process substitution, traps, jobs in the background.
trap 'echo "bye with $?"' EXIT

fib() { if [ "$1" -lt 2 ]; then echo "$1"; else echo $(($(fib $(($1 - 1))) + $(fib $(($1 - 2))))); fi; }
echo "fib $(fib 7)"

declare -a list
for i in {1..20000}; do list[i]="element $i of the list"; done
for i in {1..20000..2}; do unset "list[$i]"; done
echo "${#list[@]} ${list[10000]}"
declare -A map
for i in {1..5000}; do map["key $i"]=$((i * i)); done
(for i in {1..5000}; do unset "map[key $i]"; done; echo "in the subshell ${#map[@]}")
echo "outside ${#map[@]} ${map[key 77]}"

text=
for i in {1..500}; do text+="word$i "; done
for i in {1..2}; do text+=$text; done
echo "${#text}"
echo "${text//word/WORD}" | tr -d ' ' | cksum
long=$(printf '%.0sx' {1..300000})
[[ $long =~ ^x+$ ]] && echo "matched ${#BASH_REMATCH[0]}"

while read -r a b; do echo "$b-$a"; done <<END
$(for i in {1..50}; do echo "$i $((i * 7))"; done)
END
sort -n < <(for i in {1..3000}; do echo $(((i * 7919) % 3001)); done) | tail -1
for i in {1..2000}; do echo "line $i"; done | sort -r | awk '{ print $2 }' | head -3
mapfile -t lines < <(seq 30000)
echo "${#lines[@]} ${lines[29999]}"

jobs=
for i in {1..6}; do
  (map[own]=$i; eval "own=({1..3000})"; exit "$i") &
  jobs="$jobs $!"
done
sum=0
for job in $jobs; do
  wait "$job"
  sum=$((sum + $?))
done
echo "jobs: $sum"
echo "on standard error" >&2
exit 7
