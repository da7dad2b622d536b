# What the guest runs, in one boot; see guest.py for begin and pool. The checks
# of the lines are in replicate.test.
# shellcheck shell=sh
export LD_LIBRARY_PATH=/lib OMP_NUM_THREADS=4 OMP_PROC_BIND=close
export OMP_PLACES='{0},{1},{2},{3}'
export OMP_WAIT_POLICY=passive XOS_MMM_L_PAGING_POLICY=demand:demand:demand

begin embedding, one table for all
/replicated shared 24
begin embedding, replicated, large pages
/replicated copies 24
begin embedding, replicated, normal pages
env MPG_MODE=none /replicated copies 24
begin embedding, replicated, node 2 without large pages
pool 96 96 0 96
/replicated copies 24
begin embedding, replicated, node 2 full
/replicated full 24
pool 96 96 96 96
begin embedding, replicated, the job has two nodes
env OMP_NUM_THREADS=2 OMP_PLACES='{1},{3}' /replicated copies 24
begin embedding, replicated, without OpenMP
/visiting visit

begin DMVM, version 2
/replicated dmvm

begin vector, as it is
/vector-plain 0
begin vector, large pages
/vector 0
begin vector, chunks
/vector 262144
begin vector, without libmpg
/vector-alone 0

begin Fortran
/fortran
