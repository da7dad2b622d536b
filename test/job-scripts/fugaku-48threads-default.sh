#!/bin/bash
#PJM -L "node=1"
#PJM -L "rscgrp=small"
#PJM --mpi "proc=1"
export OMP_NUM_THREADS=48
export OMP_PROC_BIND=close
mpiexec -n 1 ./stream
