"""Prints the Markdown table of a CSV file written by the example quantize_ways: `quantize_table.py FILE.csv`.

The table has the percentage of correct test images per width and overflow mode, with one column per method.
"""

import csv
import sys

with open(sys.argv[1], newline="") as file:
    rows = list(csv.DictReader(file))
ways = list(dict.fromkeys(row["way"] for row in rows))
modes = list(dict.fromkeys(row["overflow"] for row in rows))
columns = [(mode, way) for mode in modes for way in ways]
columns = [column for column in columns if any((row["overflow"], row["way"]) == column for row in rows)]
print("| bits | " + " | ".join(f"{way}, {mode}" for mode, way in columns) + " |")
print("|---:|" + "---:|" * len(columns))
for bits in sorted({int(row["bits"]) for row in rows}):
    cells = []
    for mode, way in columns:
        found = [r for r in rows if (int(r["bits"]), r["overflow"], r["way"]) == (bits, mode, way)]
        cells.append(f"{100 * int(found[0]['right']) / int(found[0]['images']):.1f}" if found else "")
    print(f"| {bits} | " + " | ".join(cells) + " |")
