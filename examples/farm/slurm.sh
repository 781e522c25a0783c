#!/usr/bin/env bash
# Runs a sweep as a job array with one shard per task:
#
#   job=$(sbatch --parsable --array=1-8 examples/farm/slurm.sh study.yaml out/shards)
#   sbatch --dependency=afterok:"$job" --wrap "guardbit merge out/shards/* -o out/merged"
#
#SBATCH --job-name=guardbit
#SBATCH --cpus-per-task=1
#SBATCH --output=guardbit-%A_%a.log
#SBATCH --open-mode=append
#SBATCH --requeue
set -uo pipefail
study=$1
shards=$2

# The folder is that of the task: a task that runs again goes on where it was.
guardbit sweep "$study" --shard slurm --threads "${SLURM_CPUS_PER_TASK:-1}" --quiet -o "$shards/$SLURM_ARRAY_TASK_ID"
status=$?

# Killed by a signal, as by the kernel where memory runs out: once more, twice at most. Bad input (2) stays bad.
if [ "$status" -ge 128 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 2 ]; then
    echo "guardbit ended with status $status: the task goes back into the queue"
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
    # The requeue ends this task.
    sleep 60
fi
exit "$status"
