#!/bin/bash
#$ -l rt_F=1
#$ -l h_rt=1:00:00
#$ -j y
#$ -cwd
source /etc/profile.d/modules.sh
module load gcc/13.2.0
export OMP_NUM_THREADS=40
./postprocess *.h5
