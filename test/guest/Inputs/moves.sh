# What the guest of wrong-node.test runs, in one boot; see guest.py for begin and pool.
# shellcheck shell=sh
export LD_LIBRARY_PATH=/lib OMP_NUM_THREADS=4 OMP_PROC_BIND=close
export OMP_PLACES='{0},{1},{2},{3}' OMP_WAIT_POLICY=passive

# `none` is to be pages of 4 KiB.
echo madvise >/sys/kernel/mm/transparent_hugepage/enabled
for pages in hugetlb thp none; do
  export MPG_MODE=$pages
  begin "each thread its part, $pages"
  /moves here 16
  begin "each part by a thread of the library, $pages"
  /moves later 16
  begin "to each node, $pages"
  /moves node 16
  begin "under DMA, $pages"
  /moves pinned 8
done
begin "a node without room"
pool 96 96 96 240
/moves full 48
pool 96 96 96 96
begin "next touch, balancing off"
/moves off 16

# Faster than by default, so that the test does not take minutes.
mount -t debugfs debugfs /sys/kernel/debug
balancing=/sys/kernel/debug/sched/numa_balancing
echo 100 >$balancing/scan_delay_ms
echo 100 >$balancing/scan_period_min_ms
echo 200 >$balancing/scan_period_max_ms
for pages in none thp hugetlb; do
  export MPG_MODE=$pages
  begin "next touch, $pages"
  /moves next 16
done
begin "as mpgrun --move=next-touch"
MPG_MODE=thp /moves plain 16
