#!/bin/bash
#PJM -L "node=1,rscgrp=small"
#PJM --mpi "proc=4"
export OMP_NUM_THREADS=12
export XOS_MMM_L_PAGEING_POLICY=demand:demand:demand
export XOS_MMM_L_ARENA_LOCKTYPE=0
export XOS_MMM_L_PRINT_ENV=true
export MALLOC_TRIM_THRESHOLD=0
mpiexec ./md run.in
