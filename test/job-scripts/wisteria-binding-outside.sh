#!/bin/sh
#PJM -L rscgrp=regular-o
#PJM -L node=2
#PJM --mpi proc=8
export OMP_NUM_THREADS=12
export XOS_MMM_L_PAGING_POLICY=demand:demand:demand
numactl -l mpiexec -n 8 ./solver
