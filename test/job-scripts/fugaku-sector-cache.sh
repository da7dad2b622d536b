#!/bin/bash
#PJM -L "node=2,rscgrp=small,elapse=20:00"
#PJM --mpi "max-proc-per-node=4"

export OMP_NUM_THREADS=12
export FLIB_SCCR_CNTL=TRUE
export FLIB_L2_SECTOR_NWAYS_INIT=10,4
mpiexec ./spmv matrix.bin
