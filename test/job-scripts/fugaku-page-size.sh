#!/bin/bash
#PJM -L "node=1"
#PJM --mpi "proc=4"
export OMP_NUM_THREADS=12
export XOS_MMM_L_HUGETLB_SZ=32M
mpiexec ./a.out
env XOS_MMM_L_HUGETLB_SZ=2M mpiexec ./a.out
