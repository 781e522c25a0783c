#!/usr/bin/env python3
"""Measures peak memory of guardbit for 200 and for 2,000 samples; prints rows of a CSV table.

    bench_memory.py GUARDBIT MODEL.tflite IMAGES.npy [COMMAND...]

The images are repeated as needed. COMMAND is run, dump (run with --dump-tensors), sweep or size [default: all].
Columns: tool, subject, setting, threads, figure, unit. Needs NumPy.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy

SAMPLES = (200, 2000)
COMMANDS = {
    "run": ["run", "--stats", "events"],
    "dump": ["run", "--stats", "events", "--dump-tensors"],
    "sweep": ["sweep", "--bits", "18..=21", "--overflow", "wrap,saturate"],
    "size": ["size"],
}


def peak_kib(guardbit, model, command, images, folder):
    """Returns the maximum resident size of one command in KiB."""
    verb, *flags = COMMANDS[command]
    arguments = [guardbit, verb, model, *flags, "--hw", "fpga-int14-os", "--input", images, "--threads", "2"]
    arguments += ["--quiet", "--force", "-o", folder / "out"]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command} failed")
    return usage.ru_maxrss


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    guardbit, model, images, *commands = sys.argv[1:]
    images = numpy.load(images)
    subject = Path(model).stem
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for count in SAMPLES:
            repeated = numpy.concatenate([images] * -(-count // len(images)))[:count]
            numpy.save(folder / f"{count}.npy", repeated)
        for command in commands or COMMANDS:
            peaks = [peak_kib(guardbit, model, command, folder / f"{n}.npy", folder) for n in SAMPLES]
            for count, peak in zip(SAMPLES, peaks):
                print(f"guardbit,{subject},{command} of {count} samples,2,{peak},KiB")
            setting = f"{command} of {SAMPLES[1]} / {SAMPLES[0]} samples"
            print(f"guardbit,{subject},{setting},2,{peaks[1] / peaks[0]:.3f},ratio", flush=True)


if __name__ == "__main__":
    main()
