#!/usr/bin/env python3
"""Measures how CPU time and memory grow, and draws it:

    growth.py measure GUARDBIT MODELS FILE.csv
    growth.py plot FILE.csv FILE.svg

Four quantities are raised fourfold step by step: multiplications of one layer, samples, points of a sweep, and layers. Commands run
on one thread; a time is the least of three. The slope is that of the line through the upper half of the points, on axes of
logarithms: 1 is proportional growth. Either command prints the slopes, and fails if one of CPU time exceeds 1.05.

`measure` needs onnx and NumPy, `plot` Matplotlib.
"""

import csv
import math
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT = 1.05
REPEATS = 3
HARDWARE = ["--hw", "fpga-int14-os", "--threads", "1", "--quiet", "--force"]
RUN = ["run", *HARDWARE, "--stats", "events"]
COLUMNS = ["quantity", "value", "cpu_s", "peak_mib"]


def chain(folder, size, layers):
    """Returns flags for a chain of 3x3 convolutions of 32 channels, and one image of random values."""
    from make_large import Network

    network = Network()
    x = network.requantized("input")
    for _ in range(layers):
        x = network.conv(x, 32, 32, 3)
    shape = [1, 32, size, size]
    network.save("chain", shape, x, shape, folder)
    return [folder / "chain.onnx", "--input", folder / "chain_input.npy"]


def resnet(models, folder, samples):
    """Returns flags for ResNet-8 and a number of images."""
    import numpy

    images = numpy.load(models / "resnet8_cifar10_images.npy")
    numpy.save(folder / "images.npy", numpy.concatenate([images] * -(-samples // len(images)))[:samples])
    return [models / "resnet8_cifar10_int8.tflite", "--input", folder / "images.npy"]


def steps(models, folder):
    """Yields the quantity, its value and the command of every measurement."""
    for size in (32, 64, 128, 256, 512):
        yield "multiplications of a layer", size**2 * 9 * 32**2, [*RUN, *chain(folder, size, 1)]
    for samples in (50, 200, 800, 3200, 12800):
        yield "samples", samples, [*RUN, *resnet(models, folder, samples)]
    for points in (1, 4, 16, 64, 256):
        # Every point has samples of its own, so that none is known from another one.
        model, *_ = resnet(models, folder, 1)
        flags = [model, "--random", "20", "--axis", f"seed=1..={points}"]
        yield "points of a sweep", points, ["sweep", *HARDWARE, *flags]
    for layers in (4, 16, 64, 256, 1024):
        yield "layers", layers, [*RUN, *chain(folder, 32, layers)]


# Runs a command and prints its CPU seconds and peak KiB. Memory of the process that starts a command counts as the command's,
# so that this one imports little.
LAUNCH = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""


def measured(words):
    """Returns CPU seconds and peak MiB of one command."""
    launched = subprocess.run([sys.executable, "-S", "-c", LAUNCH, *words], stdout=subprocess.PIPE, check=True)
    seconds, memory = map(float, launched.stdout.split())
    return seconds, memory / 1024


def measure(program, models, file):
    with tempfile.TemporaryDirectory() as folder, open(file, "w", newline="") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(COLUMNS)
        for quantity, value, command in steps(Path(models), Path(folder)):
            runs = [measured([program, *command, "-o", Path(folder) / "out"]) for _ in range(REPEATS)]
            seconds, memory = (min(run[kind] for run in runs) for kind in (0, 1))
            rows.writerow([quantity, value, f"{seconds:.3f}", f"{memory:.1f}"])
            print(f"{quantity} {value}: {seconds:.3f} s, {memory:.1f} MiB", flush=True)


def read(file):
    """Returns the points of every quantity: its values, CPU seconds and peak MiB."""
    quantities = {}
    with open(file, newline="") as rows:
        for row in csv.DictReader(rows):
            points = quantities.setdefault(row["quantity"], [])
            points.append([float(row[column]) for column in COLUMNS[1:]])
    return quantities


def slope(points, column):
    """Returns the slope of the least-squares line through the upper half of the points, on axes of logarithms."""
    upper = [(math.log(point[0]), math.log(point[column])) for point in points[len(points) // 2 - 1 :]]
    x, y = (sum(values) / len(upper) for values in zip(*upper))
    return sum((a - x) * (b - y) for a, b in upper) / sum((a - x) ** 2 for a, _ in upper)


def judge(file):
    steep = []
    for quantity, points in read(file).items():
        time, memory = slope(points, 1), slope(points, 2)
        print(f"{quantity:<28} slope of CPU time {time:.2f}, of memory {memory:.2f}")
        steep += [quantity] if time > LIMIT else []
    if steep:
        sys.exit(f"CPU time grows faster than in proportion: {', '.join(steep)}")


def plot(file, picture):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "growth", "font.size": 9})
    from matplotlib import pyplot

    quantities = read(file)
    figure, axes = pyplot.subplots(1, len(quantities), figsize=(10, 3), layout="constrained")
    for ax, (quantity, points) in zip(axes, quantities.items()):
        values, seconds, memory = zip(*points)
        for of, unit, marker in ((seconds, "CPU time, s", "o"), (memory, "peak memory, MiB", "s")):
            ax.loglog(values, of, marker=marker, markersize=3, linewidth=1, label=unit)
        # A line of proportional growth through the last time.
        ax.loglog(values, [seconds[-1] * value / values[-1] for value in values], ":", color="gray", label="in proportion")
        ax.set_xlabel(f"{quantity}\n(slope of CPU time: {slope(points, 1):.2f})")
        ax.minorticks_off()
        ax.grid(True, linewidth=0.3)
    axes[0].set_ylabel("seconds, MiB")
    axes[0].legend(fontsize=7)
    figure.savefig(picture, metadata={"Date": None})


def main():
    match sys.argv[1:]:
        case ["measure", program, models, file]:
            measure(program, models, file)
            judge(file)
        case ["plot", file, picture]:
            plot(file, picture)
            judge(file)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
