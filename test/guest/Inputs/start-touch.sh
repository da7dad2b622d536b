# The cases of start-touch.test; see guest.py for begin and pool.
# shellcheck shell=sh
export LD_LIBRARY_PATH=/lib
policy=XOS_MMM_L_PAGING_POLICY
run() {
  env XOS_MMM_L_PRINT_ENV=on LD_PRELOAD=/lib/libmpgrt.so.1 "$@" 2>&1 |
    grep -e POLICY -e FIRST_TOUCH -e MiB -e mpg: | grep -v settings
}

begin not asked for
run /start-parts
begin pages of the pool
export MPG_FIRST_TOUCH=start
run /start-parts
begin transparent pages
run env MPG_MODE=thp /start-parts
begin the policy says prepage
run env $policy=prepage:demand:demand /start-parts
begin the policy says demand
run env $policy=demand:demand:prepage /start-parts
begin threads from the last node on
run env OMP_PLACES='{3},{2},{1},{0}' OMP_NUM_THREADS=4 /start-parts
begin threads on two nodes
run env OMP_PLACES='{1},{2}' OMP_NUM_THREADS=2 /start-parts

begin a node without large pages
pool 96 96 0 96
run /start-parts
begin fewer pages than .bss takes
pool 4 4 4 4
run /start-parts
pool 96 96 96 96

begin interleaved by numactl
run env $policy=prepage:demand:demand /start-parts interleave
begin one node
run taskset 1 /start-parts
begin some of the nodes
mkdir /tmp/groups
mount -t cgroup2 none /tmp/groups
echo +cpuset >/tmp/groups/cgroup.subtree_control
mkdir /tmp/groups/some
echo 0,1,3 >/tmp/groups/some/cpuset.mems
run sh -c "echo \$\$ >/tmp/groups/some/cgroup.procs; exec /start-parts"

unset MPG_FIRST_TOUCH
begin a container that forbids to ask for nodes
run /older numa /start-parts
begin such a container with one node
pool 20 20 20 20
echo 0 >/tmp/groups/some/cpuset.mems
run /older numa env $policy=demand:demand:demand \
  sh -c "echo \$\$ >/tmp/groups/some/cgroup.procs; exec /start-parts"
