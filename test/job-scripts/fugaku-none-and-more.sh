#!/bin/bash
#PJM -L "node=1"
#PJM --mpi "proc=1"
export XOS_MMM_L_HPAGE_TYPE=none
export XOS_MMM_L_PAGING_POLICY=demand:demand:demand
export XOS_MMM_L_ARENA_LOCK_TYPE=0
export OMP_NUM_THREADS=48
mpiexec ./kh.x
