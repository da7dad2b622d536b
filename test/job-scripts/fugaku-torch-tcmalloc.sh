#!/bin/bash
#PJM -L "node=1,elapse=1:00:00"
#PJM -L "rscgrp=small"
#PJM --mpi "proc=4"

# The framework brings its own malloc, so the library's large pages are off.
export XOS_MMM_L_HPAGE_TYPE=none
export LD_PRELOAD=/home/apps/lib/libtcmalloc.so
export OMP_NUM_THREADS=12

mpiexec -n 4 python3 train.py --epochs 3
