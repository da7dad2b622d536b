# What the guest runs, in one boot; see guest.py for begin and pool. The checks
# of the lines are in four-nodes.test.
# shellcheck shell=sh
export LD_LIBRARY_PATH=/lib OMP_NUM_THREADS=4 OMP_PROC_BIND=close
export OMP_PLACES='{0},{1},{2},{3}' OMP_WAIT_POLICY=passive
demand=XOS_MMM_L_PAGING_POLICY=demand:demand:demand

begin machine
uname -m
cat /sys/devices/system/node/online

begin first touch, large pages, blocks
env $demand /touch-openmp huge 64 0 block 64 0
begin first touch, large pages, blocks that begin anywhere
env $demand /touch-openmp huge 61 4104 block 24 0
begin first touch, large pages, chunks
env $demand /touch-openmp huge 64 0 chunk 64 32768
begin first touch, large pages, chunks of less than a page
env $demand /touch-openmp huge 64 0 chunk 64 625
begin first touch, other sizes
for node in 0 1 2 3; do
  sizes=/sys/devices/system/node/node$node/hugepages
  echo 80 >$sizes/hugepages-64kB/nr_hugepages
  echo 3 >$sizes/hugepages-32768kB/nr_hugepages
done
env $demand /touch-openmp huge64K 300 4200 block 8 0
env $demand /touch-openmp huge32M 8 0 chunk 64 524288
for node in 0 1 2 3; do
  sizes=/sys/devices/system/node/node$node/hugepages
  echo 0 >$sizes/hugepages-64kB/nr_hugepages
  echo 0 >$sizes/hugepages-32768kB/nr_hugepages
done
begin first touch, normal pages, blocks
env $demand /touch-openmp normal 4000 40 block 8 0
begin first touch, normal pages, chunks
env $demand /touch-openmp normal 4000 40 chunk 8 3000
begin first touch, without OpenMP
env $demand /touch-alone huge 64 0 block 64 0
begin first touch, contents
env $demand /touch-unchanged /tmp/file
begin first touch of .bss, demand
env $demand /touch-openmp bss 32 0 block 64 0
begin first touch of .bss, prepage
env XOS_MMM_L_PAGING_POLICY=prepage:demand:prepage /touch-openmp bss 32 0 block 64 0

print() {
  env XOS_MMM_L_PRINT_ENV=on LD_PRELOAD=/lib/libmpgrt.so.1 "$@" 2>&1 |
    grep -e POLICY -e MiB -e mpg: | grep -v settings
}
begin each thread initialises its part
/own-parts
print /own-parts
print env MPG_MODE=thp /own-parts
begin each thread initialises its part, a policy is named
print env XOS_MMM_L_PAGING_POLICY=prepage:demand:prepage /own-parts
begin each thread initialises its part, numactl has set one
print /own-parts interleave
begin each thread initialises its part, one node
print taskset 1 /own-parts

begin NUMA functions
/numa-uses
begin NUMA functions, transparent pages
env MPG_MODE=thp /numa-uses
begin NUMA functions, one node without large pages
pool 96 96 0 96
/numa-uses
begin NUMA functions, a node that is too small
/numa-uses 512
pool 96 96 96 96

begin regions, hugetlb
for program in /regions-pie /regions-layout; do
  env MPG_MODE=hugetlb LD_PRELOAD=/lib/libmpgrt.so.1 /shares $program late
done
env MPG_MODE=hugetlb /shares /regions-static late
begin regions, hugetlb, old kernel
env MPG_MODE=hugetlb MPG_TEST_COPY_BACK=1 /shares /regions-static late
# One thread, and what it touches should not stop where its node is full.
begin regions, transparent
export XOS_MMM_L_PAGING_POLICY=prepage:demand:prepage
for program in /regions-pie /regions-layout; do
  env MPG_MODE=thp LD_PRELOAD=/lib/libmpgrt.so.1 /shares $program touch
done
env MPG_MODE=thp /shares /regions-static touch
unset XOS_MMM_L_PAGING_POLICY
begin regions, none
env MPG_MODE=none LD_PRELOAD=/lib/libmpgrt.so.1 /shares /regions-pie late

begin stack, hugetlb
env MPG_MODE=hugetlb LD_PRELOAD=/lib/libmpgrt.so.1 /shares /stack-uses hold
env MPG_MODE=hugetlb LD_PRELOAD=/lib/libmpgrt.so.1 /stack-uses all
begin stack, transparent
env MPG_MODE=thp LD_PRELOAD=/lib/libmpgrt.so.1 /stack-uses all
begin threads, hugetlb
env MPG_MODE=hugetlb LD_PRELOAD=/lib/libmpgrt.so.1 /thread-uses all
begin threads, transparent
env MPG_MODE=thp LD_PRELOAD=/lib/libmpgrt.so.1 /thread-uses all
