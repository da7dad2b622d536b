#!/bin/sh
#PJM --rsc-list "node=12"
#PJM --rsc-list "elapse=00:30:00"
#PJM --stg-transfiles all
#PJM --stgin "rank=* ./a.out %r:./"
#PJM --stgout "rank=* %r:./*.dat ./"
. /work/system/Env_base
export OMP_NUM_THREADS=8
ulimit -s unlimited
mpiexec lpgparm -t 4MB -s 4MB -d 4MB -h 4MB -p 4MB ./a.out
