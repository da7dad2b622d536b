#!/bin/sh
#PJM -L rscgrp=share-short
#PJM -L gpu=1
#PJM -L elapse=00:30:00
#PJM -g project

# The same batch system, another machine: nothing here is for A64FX.
module load cuda/12.2
export OMP_NUM_THREADS=18
numactl -C 0-17 ./trainer --batch 64
