#!/usr/bin/env python3
"""Computes energy and area of SRAMs with CACTI 7, for hwmodels/costs/cacti7-40nm.yaml.

    git clone https://github.com/HewlettPackard/cacti && make -C cacti
    scripts/goldens/make_sram_costs.py cacti [--check]

prints the figures. CACTI (commit 1ffd8df) runs at 40 nm for plain RAMs with one read-write port and one bank, with the
settings of its `cache.cfg` except those below. The energy is the mean of a read and a write. `--check` instead prints
the errors of interpolation between the points of the table.
"""

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

KIB = [4, 8, 16, 32, 64, 128, 256, 512, 1024]
BITS = [32, 64, 128, 256, 512, 1024]
BETWEEN = [(6, 48), (24, 96), (48, 192), (96, 384), (192, 160), (384, 768), (768, 640)]
SETTINGS = {
    "size (bytes)": "{size}",
    "block size (bytes)": "{word}",
    "associativity": "1",
    "technology (u)": "0.040",
    "output/input bus width": "{bits}",
    "cache type": '"ram"',
    "Add ECC": '- "false"',
}


def cacti(folder, kib, bits):
    """Returns picojoules of an access and square micrometres."""
    text = (folder / "cache.cfg").read_text()
    for key, value in SETTINGS.items():
        value = value.format(size=kib * 1024, word=bits // 8, bits=bits)
        text, count = re.subn(rf"(?m)^-{re.escape(key)} .*$", f"-{key} {value}", text)
        assert count == 1, key
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as file:
        file.write(text)
        file.flush()
        command = ["./cacti", "-infile", file.name]
        out = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    number = lambda what: float(re.search(rf"{re.escape(what)}\s*:?\s*([-+.\de]+)", out).group(1))
    read, write = (number(f"Total dynamic {way} energy per access (nJ)") for way in ("read", "write"))
    return 1000 * (read + write) / 2, 1e6 * number("Data array: Area (mm2)")


def figure(bits, energy, area, wider=False):
    """Returns the figure for words between two widths: linear in the size and in the width."""
    # An SRAM consists of blocks within CACTI's range: parallel slices for wide words, each made of banks of which one
    # is active.
    slices = f"ceil(width / {BITS[-1]})"
    width = f"width / {slices}" if wider else f"max({BITS[0]}, width)" if bits[0] == BITS[0] else "width"
    slice_kib = f"kib / {slices}" if wider else "kib"
    banks = f"ceil({slice_kib} / {KIB[-1]})"
    kib = f"max({KIB[0]}, {slice_kib} / {banks})"

    def formula(rows):
        ends = [f"linear({width}, {bits[0]}, {1 - end}, {bits[1]}, {end})" for end in range(2)]
        lines = [", ".join(f"{kib}, {value:.4g}" for kib, value in zip(KIB, row)) for row in rows]
        return " + ".join(f"{end} * linear({kib}, {line})" for end, line in zip(ends, lines))

    if wider:
        held, factors = f"from: {bits[1]}", [f"{slices} * ", f"{slices} * {banks} * "]
    else:
        low = 1 if bits[0] == BITS[0] else bits[0]
        held, factors = f"from: {low}, to: {bits[1]}", ["", f"{banks} * "]
    energy_pj, area = (f"{factor}({formula(rows)})" for factor, rows in zip(factors, (energy, area)))
    return f"""  - part: sram
    range: [{{of: width, {held}}}]
    energy_pj: {energy_pj}
    area: {area}
    source: CACTI 7, RAMs of {bits[0]} and {bits[1]} bits per word, {KIB[0]} to {KIB[-1]} KiB
    note: linear between the points over size and width; more or wider memory is several such RAMs, smaller counts as the smallest"""


def interpolated(rows, kib, bits):
    def between(points, at):
        return next(i for i in range(len(points) - 1) if points[i] <= at <= points[i + 1])

    i, j = between(KIB, kib), between(BITS, bits)
    x, y = (kib - KIB[i]) / (KIB[i + 1] - KIB[i]), (bits - BITS[j]) / (BITS[j + 1] - BITS[j])
    line = lambda row: row[i] * (1 - x) + row[i + 1] * x
    return line(rows[j]) * (1 - y) + line(rows[j + 1]) * y


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cacti", type=Path)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    found = [[cacti(args.cacti, kib, bits) for kib in KIB] for bits in BITS]
    energy, area = ([[pair[of] for pair in row] for row in found] for of in range(2))
    if args.check:
        for kib, bits in BETWEEN:
            own = cacti(args.cacti, kib, bits)
            off = [100 * (interpolated(rows, kib, bits) / value - 1) for rows, value in zip((energy, area), own)]
            print(f"{kib} KiB, {bits} bits: energy {off[0]:+.1f} %, area {off[1]:+.1f} %")
        return
    for i in range(len(BITS) - 1):
        print(figure(BITS[i:i + 2], energy[i:i + 2], area[i:i + 2]))
    print(figure(BITS[-2:], energy[-2:], area[-2:], wider=True))


if __name__ == "__main__":
    main()
