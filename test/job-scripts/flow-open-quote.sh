#!/bin/bash
#PJM -L "node=1"
#PJM --mpi "proc=4"
export OMP_NUM_THREADS=12
mpiexec ./a.out
echo "all done
