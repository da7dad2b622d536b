#!/bin/bash
#PJM -L "node=1"
#PJM --mpi "proc=1"
export OMP_NUM_THREADS=4
mpiexec -n 1 valgrind --tool=helgrind ./solver small.in
