# What the guest runs for first-touch-modes.test, in one boot; see guest.py for
# begin and pool. The node of a part is that of its thread: one CPU on each.
# shellcheck shell=sh
export LD_LIBRARY_PATH=/lib OMP_NUM_THREADS=4 OMP_PROC_BIND=close
export OMP_PLACES='{0},{1},{2},{3}' OMP_WAIT_POLICY=passive
policy=XOS_MMM_L_PAGING_POLICY
demand=$policy=demand:demand:demand
touch=MPG_FIRST_TOUCH=touch
mbind=MPG_FIRST_TOUCH=mbind

begin without the call
env $demand /share-openmp normal 16 none 0
begin switched off
env $demand MPG_FIRST_TOUCH=off /share-openmp normal 16 block 0

for kind in normal huge heap bss; do
  begin touch, $kind
  env $demand $touch /share-openmp $kind 16 block 0
  begin mbind, $kind
  env $demand $mbind /share-openmp $kind 16 block 0
done
begin touch, arrays that begin behind the start of a page
env $demand $touch /share-openmp heap 16 block 0 3
begin mbind, arrays that begin behind the start of a page
env $demand $mbind /share-openmp heap 16 block 0 3
begin mbind, heap on normal pages
env $demand MPG_MODE=none $mbind /share-openmp heap 15 block 0
begin touch, chunks
env $demand $touch /share-openmp huge 16 chunk 2048
begin mbind, chunks
env $demand $mbind /share-openmp huge 16 chunk 2048
begin mbind, chunks that are too fine
env $demand $mbind /share-openmp normal 16 chunk 4

begin places, touch
env $demand $touch OMP_PLACES='{3},{2},{1},{0}' /share-alone huge 16 block 0
begin places, mbind
env $demand $mbind OMP_PLACES='{3},{2},{1},{0}' /share-alone huge 16 block 0
begin places, normal pages
env $demand $mbind OMP_PLACES='numa_domains' OMP_PROC_BIND=spread \
  OMP_NUM_THREADS=2 /share-alone normal 16 block 0
begin places, one of them
env $demand $touch OMP_PROC_BIND=primary OMP_PLACES='{2},{1}' \
  /share-alone normal 16 block 0
begin places, none
env -u OMP_PLACES -u OMP_PROC_BIND -u OMP_NUM_THREADS $demand $touch \
  /share-alone normal 16 block 0

begin a node without large pages
pool 96 96 0 96
env $demand $mbind /share-openmp huge 16 block 0
env $demand $mbind /share-openmp heap 16 block 0
pool 96 96 96 96
begin a node that is not allowed
mkdir /tmp/groups
mount -t cgroup2 none /tmp/groups
echo +cpuset >/tmp/groups/cgroup.subtree_control
mkdir /tmp/groups/some
echo 0,1,3 >/tmp/groups/some/cpuset.mems
sh -c "echo \$\$ >/tmp/groups/some/cgroup.procs
  exec env $demand $mbind /share-openmp normal 16 block 0"
begin only nodes that are not allowed
echo 0 >/tmp/groups/some/cpuset.mems
sh -c "echo \$\$ >/tmp/groups/some/cgroup.procs
  exec env $demand $mbind OMP_PLACES='{1},{2},{3}' OMP_NUM_THREADS=3 \
    /share-openmp normal 15 block 0 2"

for mode in touch mbind; do
  begin prepaged heap, $mode
  env $policy=demand:demand:prepage MPG_FIRST_TOUCH=$mode \
    /share-openmp heap 16 block 0 2
  begin prepaged .bss, $mode
  env $policy=prepage:demand:demand MPG_FIRST_TOUCH=$mode \
    /share-openmp bss 16 block 0
done
begin prepaged heap, array in .bss
env $policy=demand:demand:prepage $touch /share-openmp bss 16 block 0
begin prepaged .bss, array in the heap
env $policy=prepage:demand:demand $touch /share-openmp heap 16 block 0
export XOS_MMM_L_PAGING_POLICY=prepage:demand:prepage
begin prepaged, array of its own
env $touch /share-openmp huge 16 block 0 2
begin prepaged, transparent
env MPG_MODE=thp $touch /share-openmp heap 16 block 0 2
env MPG_MODE=thp $touch /share-openmp bss 16 block 0
begin prepaged and switched off
env MPG_FIRST_TOUCH=off /share-openmp heap 16 block 0
