# What the guest of placed.test runs, in one boot; see guest.py for begin. Each
# program as it is without the plugin, then with it.
# shellcheck shell=sh
export LD_LIBRARY_PATH=/lib OMP_NUM_THREADS=4 OMP_PROC_BIND=close
export OMP_PLACES=cores OMP_WAIT_POLICY=passive
export XOS_MMM_L_PAGING_POLICY=demand:demand:demand

for pages in hugetlb none; do
  export MPG_MODE=$pages
  for name in block chunk three dmvm collapse bss vector arrays rows; do
    for program in $name-plain $name; do
      begin "$program, $pages"
      "/$program" 64
    done
  done
  for program in rows-interleaved rows-outer parallel-init; do
    begin "$program, $pages"
    "/$program" 64
  done
done
