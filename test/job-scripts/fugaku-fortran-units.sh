#!/bin/sh
#PJM --rsc-list "node=4"
#PJM --rsc-list "rscgrp=small"
#PJM --rsc-list "elapse=01:00:00"
#PJM --mpi "shape=4,proc=16"

# Options of Fortran programs at run time, and buffers of their units.
export FORT90L="-Wl,-T"
export fu08bf=32768
export fu11bf=32768
export FLIB_FASTOMP=TRUE
export FLIB_CNTL_BARRIER_ERR=FALSE
export OMP_NUM_THREADS=12
export PLE_MPI_STD_EMPTYFILE=off

mpiexec -n 16 ./climate.exe
