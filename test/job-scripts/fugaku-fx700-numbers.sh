#!/bin/bash
#PJM -L "node=1"
#PJM -L "rscgrp=small"
export XOS_MMM_L_PAGING_POLICY=demand:demand:demand
export OMP_NUM_THREADS=12
export GOMP_CPU_AFFINITY=0-11
numactl --cpunodebind=0 --membind=0 ./a.out
taskset -c 12-23 ./a.out
