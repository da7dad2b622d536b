# What the guest of kernels.test runs, in one boot; see guest.py for begin and pool.
# shellcheck shell=sh
export LD_LIBRARY_PATH=/lib
with_library() { env LD_PRELOAD=/lib/libmpgrt.so.1 "$@" 2>&1; }

begin machine
uname -rm
export MPG_MODE=hugetlb
begin regions, hugetlb
with_library /shares /regions-pie touch
/shares /regions-static touch 2>&1
begin stack, hugetlb
with_library /shares /stack-uses hold
with_library /stack-uses arguments attributes frames children limit
begin threads, hugetlb
with_library /thread-uses sizes others guard
# Paged in before main: the program reads all of .bss before it writes to it, and
# for such pages older kernels take small ones: 31 of 80 MiB were large in 6.1, 78 in 7.2.
export MPG_MODE=thp XOS_MMM_L_PAGING_POLICY=prepage:demand:prepage
pool 0 0 0 0
begin regions, transparent
with_library /shares /regions-pie touch
/shares /regions-static touch 2>&1
begin stack, transparent
with_library /stack-uses all
unset XOS_MMM_L_PAGING_POLICY
begin code, copied
with_library MPG_TEXT=copy /code
mkdir -p /large && mount -t tmpfs -o huge=advise none /large && cp /code /large
begin code, tmpfs
with_library MPG_TEXT=auto MPG_QUIET=1 /large/code
export MPG_MODE=auto
pool 3 3 3 3
begin forks, short pool
with_library /fork-kinds 2 1 fork clone popen
pool 48 48 48 48
begin report
[ ! -x /bin/mpgrun ] || mpgrun --report /regions-pie touch </dev/null 2>&1
