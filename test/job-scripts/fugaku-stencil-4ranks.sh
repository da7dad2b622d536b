#!/bin/bash
#PJM -L "node=16"
#PJM -L "rscunit=rscunit_ft01,rscgrp=small"
#PJM -L "elapse=02:00:00"
#PJM --mpi "max-proc-per-node=4"
#PJM -x PJM_LLIO_GFSCACHE=/vol0004
#PJM -j
#PJM -S

# One process on each core memory group: the defaults are right.
export OMP_NUM_THREADS=12
export OMP_PROC_BIND=close

mpiexec -stdout-proc ./out/%j/rank ./stencil input.nml
