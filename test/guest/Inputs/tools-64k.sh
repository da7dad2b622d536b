# What a user types where the base page is 64 KiB; see guest.py for begin,
# pool and as_user. The checks of the lines are in tools-64k.check.
# shellcheck shell=sh
export LD_LIBRARY_PATH=/lib OMP_NUM_THREADS=4 OMP_PROC_BIND=close
export OMP_PLACES='{0},{1},{2},{3}' OMP_WAIT_POLICY=passive
thp=/sys/kernel/mm/transparent_hugepage

begin machine
uname -m
grep KernelPageSize /proc/self/smaps | sort -u
cat $thp/hpage_pmd_size
begin mpginfo
mpginfo 2>&1
echo "status $?"
begin a program for pages of 4 KiB
mpgaudit --page=64K --format=line /own-parts-4k 2>&1 | head -n 1
/own-parts-4k >/dev/null 2>&1
echo "status $?"

begin pool
for program in /regions-pie /regions-layout; do
  env MPG_MODE=hugetlb LD_PRELOAD=/lib/libmpgrt.so.1 /shares $program late
done
env MPG_MODE=hugetlb /shares /regions-static late
env MPG_MODE=hugetlb LD_PRELOAD=/lib/libmpgrt.so.1 /stack-uses all
begin pool, mpgrun
mpgrun --report /own-parts 2>&1
mpgrun --verify /own-parts >/dev/null 2>&1
echo "status $?"

pool 0 0 0 0
begin transparent, 2 MiB off
cat $thp/hugepages-2048kB/enabled
mpgrun --mode=thp --report /own-parts 2>&1
begin transparent, 2 MiB on
echo madvise >$thp/hugepages-2048kB/enabled
mpgrun --mode=thp --report /own-parts 2>&1
begin transparent, 2 MiB on, who may not see it
as_user mpgrun --mode=thp --report /own-parts 2>&1
as_user mpgrun --mode=thp --verify /own-parts >/dev/null 2>&1
echo "status $?"
begin transparent, programs
for program in /regions-pie /regions-layout; do
  env MPG_MODE=thp LD_PRELOAD=/lib/libmpgrt.so.1 $program touch </dev/null
  echo "status $?"
done
env MPG_MODE=thp /regions-static touch </dev/null
echo "status $?"
env MPG_MODE=thp LD_PRELOAD=/lib/libmpgrt.so.1 /stack-uses all
begin transparent, only 2 MiB on
echo never >$thp/enabled
mpgrun --mode=thp --report /own-parts 2>&1
begin transparent, all off
echo inherit >$thp/hugepages-2048kB/enabled
mpgrun --mode=thp --report /own-parts 2>&1
mpginfo 2>&1 | grep -A 3 transparent
