#!/bin/bash
#PJM -L "node=1"
#PJM --mpi "proc=4"
export OMP_NUM_THREADS=12
export LD_PRELOAD=/opt/FJSVxos/mmm/lib64/libmpg.so.1
cp -r input work
mpiexec ./a.out
