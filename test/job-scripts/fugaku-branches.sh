#!/bin/bash
#PJM -L "node=1"
#PJM --mpi "proc=4"
export OMP_NUM_THREADS=12
if [ "$1" = pool ]; then
  export XOS_MMM_L_ARENA_FREE=3
fi
mpiexec ./a.out
