#!/bin/bash
#PJM -L "node=1"
#PJM --mpi "proc=4"
fcc -Nclang -Kfast,ocl,hpctag -o first first.c
gcc -O2 -Wl,-T/opt/FJSVxos/mmm/util/bss-2mb.lds -L/opt/FJSVxos/mmm/lib64 second.c -lmpg -lc -lpthread
fcc -Kfast,openmp -o third third.c
mpiexec ./first
mpiexec ./third
