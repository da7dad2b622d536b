#!/bin/bash
#PJM -L "node=1"
#PJM -L "rscgrp=small"
#PJM --mpi "proc=4"
#PJM -x XOS_MMM_L_HUGETLB_FALLBACK=1
export XOS_MMM_L_PAGING_POLICY=demand:demand:prepage
export OMP_NUM_THREADS=12
mpiexec ./chemistry deck.inp
