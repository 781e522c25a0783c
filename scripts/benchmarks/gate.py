#!/usr/bin/env python3
"""Compares CPU time and peak memory of two versions of guardbit; fails if the second one is worse by more than 3 %.

    gate.py BEFORE AFTER MODELS [FIGURE]...

BEFORE and AFTER are the programs, MODELS the folder of the networks of `scripts/bench`. Both run every command in turn,
in alternating order, on one thread. A figure is worse if the median of its ratios is above 1.03 and most pairs agree: the
lower end of the median's 95 % interval (of the sign test) is above 1. While only one of these holds, more pairs are run.
FIGURE selects figures whose name contains one of the words. Needs NumPy, to repeat the images.

With COUNT=instructions in the environment, Valgrind counts instructions (in 10^9) instead of CPU time. They hardly differ from run
to run, however busy the machine is. Those of the propagated sweep differ by up to 5 %, so a figure that seems worse is counted
again, and the least numbers are compared. But not all instructions take equally long, and the programs see a CPU that has AVX2
and no AVX-512.
"""

import functools
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy

LIMIT = 1.03
COUNTS = os.environ.get("COUNT") == "instructions"
PAIRS, MOST_PAIRS = 7, 31
# How often the instructions of a figure that seems worse are counted again.
RECOUNTS = 5
# Rank of the sorted ratios at the lower end of a 95 % interval of the median, by their number (sign test).
LOWER = {7: 1, 11: 2, 15: 4, 19: 5, 23: 7, 27: 8, 31: 10}

RESNET = ("resnet8_cifar10_int8.tflite", "resnet8_cifar10_images.npy", "resnet8_cifar10_labels.npy")
WAKE = ("vww_mobilenet_v1_025_int8.tflite", "vww_images.npy", "vww_labels.npy")


def figures():
    """Returns every figure: its name, the network with its data, the number of samples, and the command."""
    for name, network, samples in (("ResNet-8", RESNET, 200), ("visual wake words", WAKE, 100)):
        for bits, stats in ((32, "events"), (20, "events"), (16, "events"), (14, "events"), (14, "full")):
            flags = ["--hw", "fpga-int14-os", "--set", f"accumulation.acc.bits={bits}", "--stats", stats]
            yield f"run, {name}, {bits} bits, {stats}", network, samples, ["run", *flags]
        for hw in ("fpga-int14-ws", "fpga-int14-tree", "inner14-outer24"):
            yield f"run, {name}, {hw}", network, samples // 2, ["run", "--hw", hw, "--stats", "events"]
        # Shared adders ran on the reference engine once.
        yield f"run, {name}, dsp48e2-int8x2", network, 2, ["run", "--hw", "dsp48e2-int8x2", "--stats", "events"]
    sweep = ["sweep", "--hw", "fpga-int14-os", "--bits", "14..=20", "--overflow", "wrap,saturate"]
    yield "sweep, propagated", RESNET, 20, sweep
    yield "sweep, isolated", RESNET, 20, [*sweep, "--mode", "isolated"]
    yield "size", RESNET, 50, ["size", "--hw", "fpga-int14-ws", "--grid", "none"]
    yield "size, budget", RESNET, 10, ["size", "--hw", "fpga-int14-os", "--grid", "none", "--budget", "mismatch=1%"]
    explore = ["explore", "--hw", "fpga-int14-os", "--axis", "array.rows=8,16", "--axis", "accumulation.acc.bits=16..=18"]
    yield "explore", RESNET, 200, [*explore, "--objective", "cycles"]
    yield "vectors", RESNET, 5, ["vectors", "--hw", "fpga-int14-os", "--layer", "1", "--cases", "4000"]


def repeated(models, network, samples, folder):
    """Returns the files of a network and of its images and labels, repeated to a number of samples."""
    model, *data = (models / name for name in network)
    files = []
    for name, file in zip(("images", "labels"), data):
        values = numpy.load(file)
        files.append(folder / f"{name}.npy")
        numpy.save(files[-1], numpy.concatenate([values] * -(-samples // len(values)))[:samples])
    return model, *files


def words_of(program, files, command, folder):
    """Returns one command with its arguments."""
    verb, *flags = command
    model, images, labels = files
    words = [program, verb, model, *flags, "--input", images, "--threads", "1", "--quiet", "--force", "-o", folder / "out"]
    return words + ([] if verb == "vectors" else ["--labels", labels])


def measure(words):
    """Returns CPU seconds, or instructions, and peak MiB of one command."""
    _, usage = run(words)
    cost = first_count(*words) if COUNTS else usage.ru_utime + usage.ru_stime
    return cost, usage.ru_maxrss / 1024


@functools.cache
def first_count(*words):
    """Returns the instructions of a command, which its pairs share; peak memory is measured for each."""
    return instructions(words)


def instructions(words):
    """Returns how many instructions a command takes, in 10^9."""
    said, _ = run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", *words])
    return int(re.search(r"I\s+refs:\s+([0-9,]+)", said)[1].replace(",", "")) / 1e9


def run(words):
    """Returns what a command writes to stderr, and the resources that it used."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise RuntimeError(said.strip() or f"ended with {status}")
    return said, usage


def compare(programs, files, command, folder):
    """Returns the ratios of CPU time and of peak memory, after over before, and the medians of both programs."""
    commands = [words_of(program, files, command, folder) for program in programs]
    runs = ([], [])
    pairs = PAIRS
    recounts = RECOUNTS if COUNTS else 0
    while True:
        while len(runs[0]) < pairs:
            first = len(runs[0]) % 2
            for at in (first, 1 - first):
                runs[at].append(measure(commands[at]))
        ratios = [sorted(after[kind] / before[kind] for before, after in zip(*runs)) for kind in (0, 1)]
        if recounts and is_worse(ratios[0]):
            recounts -= 1
            for side, words in zip(runs, commands):
                count = instructions(words)
                side[:] = [(min(cost, count), memory) for cost, memory in side]
            continue
        doubtful = any(statistics.median(of) > LIMIT and not is_worse(of) for of in ratios)
        if not doubtful or pairs == MOST_PAIRS:
            return ratios, [[statistics.median(run[kind] for run in side) for side in runs] for kind in (0, 1)]
        pairs += 4


def is_worse(ratios):
    return statistics.median(ratios) > LIMIT and ratios[LOWER[len(ratios)] - 1] > 1


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    if os.environ.get("COUNT", "instructions") != "instructions":
        sys.exit(f"COUNT={os.environ['COUNT']}: expected `instructions`, or no COUNT for CPU time")
    if COUNTS and not shutil.which("valgrind"):
        sys.exit("COUNT=instructions needs valgrind (in Debian: the package valgrind)")
    before, after, models, *words = sys.argv[1:]
    chosen = [figure for figure in figures() if not words or any(word in figure[0] for word in words)]
    cost, unit = ("10^9 before", " ") if COUNTS else ("CPU before", "s")
    print(f"{'figure':<44} {cost:>10} {'after':>8} {'ratio':>6} {'MiB before':>10} {'after':>7} {'ratio':>6}")
    worse = []
    with tempfile.TemporaryDirectory() as folder:
        for name, network, samples, command in chosen:
            try:
                files = repeated(Path(models), network, samples, Path(folder))
                ratios, medians = compare((before, after), files, command, Path(folder))
            except RuntimeError as error:
                # A figure that one of the versions does not have is shown, not compared.
                print(f"{name:<44} not compared: {str(error).splitlines()[0]}", flush=True)
                continue
            shown = [statistics.median(of) for of in ratios]
            (cost_before, cost_after), (memory_before, memory_after) = medians
            verdict = [kind for kind, of in zip(("instructions" if COUNTS else "time", "memory"), ratios) if is_worse(of)]
            worse += [(name, kind) for kind in verdict]
            print(
                f"{name:<44} {cost_before:>9.3f}{unit} {cost_after:>7.3f}{unit} {shown[0]:>6.3f} {memory_before:>10.1f} "
                f"{memory_after:>7.1f} {shown[1]:>6.3f}{'  WORSE: ' + ', '.join(verdict) if verdict else ''}",
                flush=True,
            )
    if worse:
        sys.exit(f"{len(worse)} figures are worse by more than {LIMIT - 1:.0%}")


if __name__ == "__main__":
    main()
