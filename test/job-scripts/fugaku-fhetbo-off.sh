#!/bin/bash
#PJM -L "node=1,rscgrp=small,elapse=20:00"
# The first program uses the upper bits of addresses itself.
NODES=1
mpiexec -n $NODES /opt/FJSVxos/fhehpc/bin/fhetbo disable
mpiexec -n $NODES ./interpreter bytecode.bin
mpiexec -n $NODES /opt/FJSVxos/fhehpc/bin/fhetbo enable

export FLIB_SCCR_CNTL=TRUE
mpiexec -n $NODES ./spmv matrix.bin
