"""Prints the medians of a table of scripts/bench, with least and greatest figure, as Markdown."""

import csv
import statistics
import sys

figures, units = {}, {}
with open(sys.argv[1], newline="") as file:
    for row in csv.DictReader(file):
        key = (row["subject"], row["tool"], row["setting"], row["threads"])
        figures.setdefault(key, []).append(float(row["figure"]))
        units[key] = row["unit"]
print("| subject | tool | setting | threads | median | least..greatest | unit |")
print("|---|---|---|---|---|---|---|")
for key, values in figures.items():
    spread = f"{min(values):.3g}..{max(values):.3g}"
    print("| " + " | ".join([*key, f"{statistics.median(values):.3g}", spread, units[key]]) + " |")
