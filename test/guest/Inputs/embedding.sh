# What the guest runs, in one boot; see guest.py for begin and pool. The checks
# of the lines are in embedding.test.
# shellcheck shell=sh
export LD_LIBRARY_PATH=/lib OMP_NUM_THREADS=4 OMP_PROC_BIND=close
export OMP_PLACES='{0},{1},{2},{3}'
export OMP_WAIT_POLICY=passive XOS_MMM_L_PAGING_POLICY=demand:demand:demand

begin large pages
/embedding where 4000
begin normal pages
env MPG_MODE=none /embedding where 4000
begin the job has two nodes
env OMP_NUM_THREADS=2 OMP_PLACES='{1},{3}' /embedding where 4000
begin one thread, four nodes
env OMP_NUM_THREADS=1 OMP_PROC_BIND=false /embedding where 4000
begin node 2 full
/embedding full 16000 2>/dev/null
pool 96 96 96 96
begin results
/embedding
