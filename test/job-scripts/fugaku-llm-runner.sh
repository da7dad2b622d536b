#!/bin/bash
#PJM -L "node=1"
#PJM -L "rscgrp=small"
#PJM -L "elapse=1:00:00"
# Everything that was ever recommended, at once.
export XOS_MMM_L_HPAGE_TYPE=hugetlbfs
export XOS_MMM_L_PAGING_POLICY=demand:demand:demand
export XOS_MMM_L_ARENA_FREE=2
export XOS_MMM_L_ARENA_LOCK_TYPE=0
export XOS_MMM_L_HUGETLB_FALLBACK=1
export XOS_MMM_L_HUGE_MALLOC=1
export MALLOC_MMAP_THRESHOLD_=204800
export OMP_NUM_THREADS=48
./llama-run -m model.gguf -t 48
