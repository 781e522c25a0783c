"""Collects the accumulator bits of products of two activations from several sizings, and plots them.

    python bits.py OUT.csv OUT.png LENGTH=FOLDER ...

Each FOLDER is an output folder of `guardbit size --dim tokens=LENGTH`. The picture needs matplotlib.
"""

import csv
import pathlib
import sys

KINDS = {"bits_type": "by type", "bits_range": "by range", "bits_data_final": "by data, final sums", "bits_data_prefix": "by data, partial sums"}


def main():
    table, picture, *sizings = sys.argv[1:]
    rows = []
    for length, folder in (sizing.split("=", 1) for sizing in sizings):
        with open(pathlib.Path(folder) / "size.csv", newline="") as file:
            products = [row for row in csv.DictReader(file) if row["op"] == "batch_matmul"]
        for name, row in zip(["Q*K^T", "P*V"], products, strict=True):
            rows.append({"tokens": int(length), "product": name, "terms": int(row["terms"]), **{kind: int(row[kind]) for kind in KINDS}})
    with open(table, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    draw(rows, picture)


def draw(rows, picture):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    for name, axis in zip(["Q*K^T", "P*V"], axes):
        own = [row for row in rows if row["product"] == name]
        for (kind, label), style in zip(KINDS.items(), ["-o", "--x", "-s", ":^"]):
            axis.plot([row["tokens"] for row in own], [row[kind] for row in own], style, label=label)
        axis.set(title=name, xlabel="context length (tokens)", xscale="log")
        axis.set_xticks([row["tokens"] for row in own], [str(row["tokens"]) for row in own])
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("required accumulator bits")
    axes[0].legend()
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main()
