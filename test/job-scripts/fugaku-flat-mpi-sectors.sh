#!/bin/bash
#PJM -L "node=1"
#PJM --mpi "max-proc-per-node=48"
export OMP_NUM_THREADS=1
export FLIB_L2_SECTOR_NWAYS_INIT=12,4
mpiexec ./spmv matrix.bin
