#!/usr/bin/env python3
"""Benchmarks CPU time per inference of the whole command `guardbit run` on one thread; prints rows of a CSV table.

    bench_command.py [--samples=FEW,MANY] GUARDBIT MODEL.tflite IMAGES.npy [BITS STATS]...

The figure includes reading, checking and hashing the samples, the exact network, and writing. It excludes costs that do
not depend on the number of samples: it is the time for MANY samples minus the time for FEW (2,000 and 200), divided by
their difference, without earlier results to replace. The images are repeated as needed. Columns: tool, subject,
setting, threads, figure, unit. Needs NumPy.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy

SAMPLES = (200, 2000)
SETTINGS = (("32", "events"), ("20", "events"), ("16", "events"), ("14", "events"), ("14", "full"))


def cpu_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    arguments, counts = sys.argv[1:], SAMPLES
    if arguments and arguments[0].startswith("--samples="):
        counts = [int(count) for count in arguments.pop(0).removeprefix("--samples=").split(",")]
    if len(arguments) < 3 or len(arguments) % 2 == 0 or len(counts) != 2:
        sys.exit(__doc__)
    guardbit, model, images, *settings = arguments
    images = numpy.load(images)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for count in counts:
            repeated = numpy.concatenate([images] * -(-count // len(images)))[:count]
            numpy.save(folder / f"{count}.npy", repeated)
        for bits, stats in list(zip(settings[::2], settings[1::2])) or SETTINGS:
            command = [guardbit, "run", model, "--hw", "fpga-int14-os", "--set", f"accumulation.acc.bits={bits}"]
            command += ["--stats", stats, "--threads", "1", "--quiet", "--force"]
            files = [["--input", folder / f"{count}.npy", "-o", folder / f"{bits} {stats} {count}"] for count in counts]
            few, many = (cpu_seconds([*command, *file]) for file in files)
            figure = (many - few) / (counts[1] - counts[0]) * 1e3
            setting = f"whole command {bits} bits {stats}"
            print(f"guardbit,{Path(model).stem},{setting},1,{figure:.4f},ms/inference", flush=True)


if __name__ == "__main__":
    main()
