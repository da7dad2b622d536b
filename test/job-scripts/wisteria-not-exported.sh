#!/bin/sh
#PJM -L rscgrp=short-o,node=1
#PJM --omp thread=48
export OMP_NUM_THREADS=48
XOS_MMM_L_PAGING_POLICY=demand:demand:demand
./solver
export XOS_MMM_L_PRINT_ENV=on
