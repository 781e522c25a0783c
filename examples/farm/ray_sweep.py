"""Runs the shards of a sweep on the machines of a Ray cluster, and merges them:

    python examples/farm/ray_sweep.py study.yaml out/farm --shards 8

The folders must be on a file system that all machines share.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import ray

# Exit code of guardbit after a signal that it handles.
INTERRUPTED = 130


class Killed(Exception):
    """guardbit was ended from outside: the shard goes on where it was."""


class Refused(Exception):
    """guardbit ended with an error: the same command would end so again."""


# Ray repeats a task whose worker died, or that raises `Killed`, on another machine if necessary.
@ray.remote(num_cpus=1, max_retries=3, retry_exceptions=[Killed])
def run_shard(study: str, index: int, count: int, folder: str) -> str:
    command = ["guardbit", "sweep", study, "--shard", f"{index}/{count}", "--threads", "1", "--quiet", "-o", folder]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode < 0 or done.returncode == INTERRUPTED:
        raise Killed(f"shard {index}/{count} was killed (status {done.returncode})\n{done.stderr}")
    if done.returncode != 0:
        raise Refused(f"shard {index}/{count} ended with status {done.returncode}\n{done.stderr}")
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--address", help="of a running cluster; without it Ray starts on this machine")
    args = parser.parse_args()

    ray.init(address=args.address, include_dashboard=False)
    out = args.out.absolute()
    shards = [
        run_shard.remote(str(args.study.absolute()), index, args.shards, str(out / "shards" / str(index)))
        for index in range(1, args.shards + 1)
    ]
    try:
        folders = ray.get(shards)
    except ray.exceptions.RayTaskError as error:
        # guardbit's own message, without Ray's traceback around it.
        sys.exit(str(error.cause))
    except ray.exceptions.WorkerCrashedError as error:
        sys.exit(f"{error}\nrun the same command again: `guardbit status {out}/shards/*` says what is missing")
    table = subprocess.run(["guardbit", "merge", *folders, "--quiet", "-o", str(out / "merged")], capture_output=True, text=True)
    if table.returncode != 0:
        sys.exit(table.stderr)
    print(table.stdout)


if __name__ == "__main__":
    main()
