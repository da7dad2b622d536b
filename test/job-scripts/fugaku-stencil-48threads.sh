#!/bin/bash
#PJM -L "node=1"
#PJM -L "rscgrp=small"
#PJM -L "elapse=30:00"
#PJM --mpi "proc=1"
#PJM -s

module load lang/tcsds-1.2.38
export OMP_NUM_THREADS=48
export XOS_MMM_L_PAGING_POLICY=demand:demand:demand
export XOS_MMM_L_PRINT_ENV=on

mpiexec -n 1 ./stencil -size 4096
