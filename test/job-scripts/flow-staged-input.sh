#!/bin/bash
#PJM -L "rscunit=fx"
#PJM -L "rscgrp=fx-small"
#PJM -L "node=4"
#PJM -L "elapse=3:00:00"
#PJM --mpi "proc=16"
#PJM -s

module load tcs/1.2.27
work=/data/group/$PJM_JOBID
mkdir -p "$work"
cat > "$work/params.toml" <<TOML
[run]
policy = "export XOS_MMM_L_PAGING_POLICY=prepage"
steps = 100
TOML
export OMP_NUM_THREADS=12
export OMPI_MCA_plm_ple_memory_allocation_policy=bind_local
export XOS_MMM_L_PAGING_POLICY=demand:demand:demand
for case in a b c; do
  mpiexec ./plasma --params "$work/params.toml" --case "$case"
done
cp "$work"/result.* .
