#!/bin/sh
#PJM -L rscgrp=short-o,node=1
#PJM --omp thread=12
export OMP_NUM_THREADS=12
export XOS_MMM_L_PAGING_POLICY=demand:demand
./solver
XOS_MMM_L_PAGING_POLICY=demand,demand,demand ./solver
