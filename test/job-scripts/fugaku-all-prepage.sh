#!/bin/bash
#PJM -L "node=8"
#PJM --mpi "max-proc-per-node=4"
export OMP_NUM_THREADS=12
export XOS_MMM_L_PAGING_POLICY=prepage:prepage:prepage
mpiexec ./ffb5.x
