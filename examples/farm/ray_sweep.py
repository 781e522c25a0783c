"""A sweep cut into shards that Ray runs on its machines, and merged:

    python examples/farm/ray_sweep.py study.yaml out/farm --shards 8

The folders lie on a file system that all machines see.
"""

import argparse
import subprocess
from pathlib import Path

import ray


# Ray runs a task again whose worker died, on another machine if need be: the shard goes on where it was.
@ray.remote(num_cpus=1, max_retries=3)
def run_shard(study: str, index: int, count: int, folder: str) -> str:
    command = ["guardbit", "sweep", study, "--shard", f"{index}/{count}", "--threads", "1", "--quiet", "-o", folder]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"shard {index}/{count} ended with status {done.returncode}: {done.stderr}")
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
    folders = ray.get(shards)
    table = subprocess.run(
        ["guardbit", "merge", *folders, "--quiet", "-o", str(out / "merged")], check=True, capture_output=True, text=True
    )
    print(table.stdout)


if __name__ == "__main__":
    main()
