#!/bin/bash
#PJM -L "node=1"
#PJM --mpi "proc=4"
export OMP_NUM_THREADS=12
export LD_PRELOAD=$HOME/lib/libjemalloc.so.2
mpiexec ./graph scale=26
