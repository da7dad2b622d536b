# What a user types, on an AArch64 machine with four nodes; see guest.py for
# begin, pool and as_user. The checks of the lines are in tools.check.
# shellcheck shell=sh
export LD_LIBRARY_PATH=/lib OMP_NUM_THREADS=4 OMP_PROC_BIND=close
export OMP_PLACES='{0},{1},{2},{3}' OMP_WAIT_POLICY=passive

begin machine
uname -m
begin mpginfo
mpginfo 2>&1
echo "status $?"
begin mpginfo --need
mpginfo --need=64M >/dev/null 2>&1
echo "64M: status $?"
mpginfo --need=64G >/dev/null 2>&1
echo "64G: status $?"
begin mpgaudit
mpgaudit /own-parts 2>&1 | cat
mpgaudit --format=json /own-parts | head -c 20
echo
begin mpgrun --report
mpgrun --report /own-parts 2>&1
echo "status $?"
begin mpgrun, transparent pages
mpgrun --mode=thp --report /own-parts 2>&1
begin mpgrun, normal pages
mpgrun --mode=none --report /own-parts 2>&1
begin mpgrun --verify
mpgrun --verify /own-parts 2>&1
echo "pool: status $?"
echo never >/sys/kernel/mm/transparent_hugepage/enabled
mpgrun --mode=none --verify /own-parts >/dev/null 2>&1
echo "none: status $?"
echo always >/sys/kernel/mm/transparent_hugepage/enabled
begin mpgrun --policy, one node
taskset 1 mpgrun --policy=prepage:demand:prepage --report /own-parts 2>&1
begin mpgrun --children
mpgrun --children --report /bin/busybox sh -c '/own-parts; true' 2>&1
begin mpgrun --print-env
mpgrun --print-env /own-parts 2>&1 | head -n 5
begin mpgrun --dry-run
mpgrun --dry-run /own-parts
begin mpgrun --report=json
mpgrun --report=json:/tmp/report.json /own-parts >/dev/null
grep -A 12 '"bss"' /tmp/report.json | tr -d '\n '
echo
begin mpgrun --compare
mpgrun --compare --repeat=2 /own-parts 2>&1
echo "status $?"
begin an empty pool
pool 0 0 0 0
mpgrun --report /own-parts 2>&1
mpginfo >/tmp/info 2>&1
echo "status $?"
grep -A 2 'echo' /tmp/info
begin as a user without rights
pool 96 96 96 96
as_user mpgrun --report /own-parts 2>&1
as_user mpginfo >/dev/null 2>&1
echo "status $?"
