#!/bin/bash
# A job array without eckart slurm. Before it, once: eckart shard /data/scans --count 16 -o /data/scans.manifest
# Then: sbatch example.sh, and again if tasks reach their time limit: what is done is not done again.
#SBATCH --job-name=eckart
#SBATCH --array=1-16%8
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --gpus-per-task=1
#SBATCH --time=2:00:00
#SBATCH --signal=TERM@60
#SBATCH --requeue
srun eckart run --shard "/data/scans.manifest:$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" -o /data/results --rank 20 --backend cuda --quiet
