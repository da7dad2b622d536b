#!/bin/bash
#PJM -L "node=1,elapse=10:00:00"
set -e
export OMP_NUM_THREADS=2
mpiexec -n 2 valgrind --tool=memcheck --leak-check=full ./solver small.in
XOS_MMM_L_HPAGE_TYPE=none mpiexec -n 2 valgrind --tool=helgrind ./solver small.in
