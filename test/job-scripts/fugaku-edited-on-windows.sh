#!/bin/bash
#PJM -L "node=1"
#PJM --mpi "proc=4"
export OMP_NUM_THREADS=12
export XOS_MMM_L_PAGING_POLICY=demand:demand:demand
mpiexec ./a.out
