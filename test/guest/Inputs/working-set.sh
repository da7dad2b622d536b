# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the guest of the soak's working-set runs: what mpgrun says of arrays, and what
# DAMON sees of the same program, in ranges of a page each. See guest.py.
# shellcheck shell=sh
export LD_LIBRARY_PATH=/lib

# share START END: percent of it that DAMON sees accessed within a second.
share() {
  context=$admin/0/contexts/0
  echo 1 >$admin/nr_kdamonds
  echo 1 >$admin/0/contexts/nr_contexts
  echo fvaddr >$context/operations
  echo 100000 >$context/monitoring_attrs/intervals/sample_us
  echo 2000000 >$context/monitoring_attrs/intervals/aggr_us
  echo $((($2 - $1) / 4096)) >$context/monitoring_attrs/nr_regions/max
  echo $((($2 - $1) / 4096)) >$context/monitoring_attrs/nr_regions/min
  echo 1 >$context/targets/nr_targets
  echo "$program" >$context/targets/0/pid_target
  echo 1 >$context/targets/0/regions/nr_regions
  echo "$1" >$context/targets/0/regions/0/start
  echo "$2" >$context/targets/0/regions/0/end
  echo 1 >$context/schemes/nr_schemes
  echo stat >$context/schemes/0/action
  echo 1000000 >$context/schemes/0/apply_interval_us
  pattern=$context/schemes/0/access_pattern
  echo 4294967295 | tee $pattern/sz/max $pattern/nr_accesses/max >$pattern/age/max
  echo 1 >$pattern/nr_accesses/min
  echo on >$admin/0/state
  sleep 5
  echo update_schemes_tried_bytes >$admin/0/state
  accessed=$(cat $context/schemes/0/tried_regions/total_bytes)
  echo off >$admin/0/state
  echo 0 >$admin/nr_kdamonds
  echo "$((100 * accessed / ($2 - $1)))"
}

begin machine
uname -r
begin mpgrun
mpgrun --profile --working-set /heats 2>&1
begin DAMON
echo never >/sys/kernel/mm/transparent_hugepage/enabled
echo N >/sys/module/damon_stat/parameters/enabled # else DAMON is busy
admin=/sys/kernel/mm/damon/admin/kdamonds
: >/tmp/arrays
/heats 200 >/tmp/arrays &
program=$!
while [ "$(wc -l </tmp/arrays)" -lt 5 ]; do sleep 1; done
sleep 5
while read -r name start end; do
  echo "$name $(share "$start" "$end") %"
done </tmp/arrays
kill $program
