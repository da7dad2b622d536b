#!/bin/bash
#PJM -L "node=1"
#PJM --mpi "proc=4"
export OMP_NUM_THREADS=12
export FLIB_SCCR_CNTL=TRUE
mpiexec -n 1 /opt/FJSVxos/fhehpc/bin/fhetbo disable
mpiexec -n 4 ./spmv matrix.bin
