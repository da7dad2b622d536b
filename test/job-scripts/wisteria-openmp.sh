#!/bin/sh
#PJM -N "solver"
#PJM -L rscgrp=short-o
#PJM -L node=1
#PJM --omp thread=48
#PJM -L elapse=00:10:00
#PJM -g project
#PJM -j
#PJM -o solver.out

module load fj
export OMP_NUM_THREADS=48
export XOS_MMM_L_PAGING_POLICY=demand:demand:demand

numactl -C 12-59 -m 4-7 ./solver
