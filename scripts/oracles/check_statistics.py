#!/usr/bin/env python3
"""Recomputes the statistics of a run or a sweep from predictions.npz with scikit-learn, statsmodels and SciPy.

Usage: check_statistics.py FOLDER [--scales IN_SCALE IN_ZERO OUT_SCALE OUT_ZERO] [--values LABELS.npy]

With scales, the scores of a detector are computed from inputs.npz and the output's codes, and the mean squared errors
of a regressor from its labels. Prints the number of compared figures.
"""

import argparse
import csv
import json
import pathlib
import sys

import numpy as np
from sklearn.metrics import accuracy_score, confusion_matrix, mean_squared_error, roc_auc_score
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--scales", type=float, nargs=4)
parser.add_argument("--values", type=pathlib.Path)
args = parser.parse_args()
compared = 0


def same(what, found, expected, room=5.1e-7):
    """Compares a figure with six decimals, blank for None; `room` is the allowed difference."""
    global compared
    compared += 1
    if expected is None or found in ("", None):
        assert expected is None and found in ("", None), f"{what}: {found!r}, expected {expected!r}"
        return
    found, expected = float(found), float(expected)
    assert abs(found - expected) <= room, f"{what}: {found}, expected {expected}"


def digits(what, found, expected):
    """Compares six significant digits."""
    same(what, found, expected, 0.6e-5 * abs(expected) if expected else 1e-300)


def interval(what, row, low, high, part, whole):
    ends = proportion_confint(part, whole, method="wilson")
    same(f"{what} {low}", row[low], max(ends[0], 0))
    same(f"{what} {high}", row[high], min(ends[1], 1))


def p_value(first, second):
    if first + second == 0:
        return 1.0
    return min(mcnemar([[0, first], [second, 0]], exact=first + second < 25, correction=True).pvalue, 1.0)


def check_classes(row, data, classes):
    exact, simulated = data["exact_class"], data["simulated_class"] if "simulated_class" in data else None
    n = len(exact)
    same("samples", row["samples"], n)
    labels = data["label"] if "label" in data else None
    if simulated is not None:
        agreeing = int((exact == simulated).sum())
        same("agreement", row["top1_agreement"], agreeing / n)
        interval("agreement", row, "agreement_low", "agreement_high", agreeing, n)
    if labels is not None:
        same("exact accuracy", row["accuracy_exact"], accuracy_score(labels, exact))
        interval("exact", row, "accuracy_exact_low", "accuracy_exact_high", int((exact == labels).sum()), n)
    if labels is not None and simulated is not None:
        same("accuracy", row["accuracy"], accuracy_score(labels, simulated))
        interval("accuracy", row, "accuracy_low", "accuracy_high", int((simulated == labels).sum()), n)
        lost = int(((exact == labels) & (simulated != labels)).sum())
        gained = int(((exact != labels) & (simulated == labels)).sum())
        same("lost", row["lost"], lost)
        same("gained", row["gained"], gained)
        digits("p", row["mcnemar_p"], p_value(lost, gained))
    found_classes = [int(found["class"]) for found in classes]
    every = sorted({*exact.tolist(), *(simulated if simulated is not None else exact).tolist(), *(labels if labels is not None else exact).tolist()})
    same("classes", len(found_classes), len(every))
    table = {run: None if values is None or labels is None else confusion_matrix(labels, values, labels=every)
             for run, values in (("exact", exact), ("simulated", simulated))}
    for place, (number, found) in enumerate(zip(every, classes)):
        same("class", found["class"], number)
        same("predicted_exact", found["predicted_exact"], int((exact == number).sum()))
        for run, right, share in (("exact", "right_exact", "accuracy_exact"), ("simulated", "right", "accuracy")):
            if table[run] is None:
                same(right, found[right], None)
                continue
            row_of_class = table[run][place]
            of = int(row_of_class.sum())
            same("labelled", found["labelled"], of)
            same(right, found[right], int(row_of_class[place]))
            same(share, found[share], row_of_class[place] / of if of else None)
            if run == "simulated" and of:
                interval("class", found, "accuracy_low", "accuracy_high", int(row_of_class[place]), of)
        if simulated is not None:
            same("predicted", found["predicted"], int((simulated == number).sum()))
            same("agreeing", found["agreeing"], int(((simulated == number) & (exact == number)).sum()))


def codes(data, run):
    return next(data[key] for key in data.files if key.startswith(f"{run}/"))


def check_scores(row, data):
    for run, name in (("exact", "auc_exact"), ("simulated", "auc")):
        scores = data[f"{run}_score"]
        same(name, row[name], roc_auc_score(data["label"], scores) if "label" in data else None)
        if args.scales:
            in_scale, in_zero, out_scale, out_zero = np.float32(args.scales).astype(np.float64)
            inputs = np.load(args.folder / "inputs.npz")
            read = (inputs[inputs.files[0]].astype(np.float64) - in_zero) * in_scale
            made = (codes(data, run).astype(np.float64) - out_zero) * out_scale
            errors = ((read - made).reshape(len(read), -1) ** 2).mean(axis=1)
            for found, expected in zip(scores, errors):
                same("score", found, expected, 1e-6 * max(1.0, abs(expected)))


def check_values(row, data):
    _, _, scale, zero = np.float32(args.scales).astype(np.float64)
    labels = np.load(args.values).astype(np.float64)
    for run, name in (("exact", "mse_exact"), ("simulated", "mse")):
        values = ((codes(data, run).astype(np.float64) - zero) * scale).reshape(labels.shape)
        digits(name, row[name], mean_squared_error(labels.reshape(len(labels), -1), values.reshape(len(labels), -1)))


def check_point(row, data, classes):
    if "exact_class" in data:
        check_classes(row, data, classes)
    if "exact_score" in data:
        check_scores(row, data)
    if args.values:
        check_values(row, data)
    if args.scales and row["output_mse"] not in ("", None):
        scale = float(np.float32(args.scales[2]))
        both = [codes(data, run).astype(np.float64).ravel() * scale for run in ("exact", "simulated")]
        digits("output_mse", row["output_mse"], mean_squared_error(*both))


def rows(name):
    with open(args.folder / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def right(data):
    return data["simulated_class"] == (data["label"] if "label" in data else data["exact_class"])


def check_pair(pair, points):
    first, second = (right(points[int(pair[key])]) for key in ("point", "other"))
    same("right", pair["right"], int(first.sum()))
    same("right_other", pair["right_other"], int(second.sum()))
    only, other = int((first & ~second).sum()), int((second & ~first).sum())
    same("only_point", pair["only_point"], only)
    same("only_other", pair["only_other"], other)
    digits("p of a pair", pair["mcnemar_p"], p_value(only, other))


if (args.folder / "run.json").exists():
    outcome = json.loads((args.folder / "run.json").read_text())["outcome"]
    for name in ("agreement", "accuracy", "accuracy_exact"):
        ends = outcome.pop(f"{name}_interval") or {"low": None, "high": None}
        outcome |= {f"{name}_{end}": value for end, value in ends.items()}
    check_point(outcome, np.load(args.folder / "predictions.npz"), rows("classes.csv"))
else:
    points = [np.load(path) for path in sorted((args.folder / "predictions").glob("*.npz"))]
    summary, classes = rows("summary.csv"), rows("classes.csv")
    assert len(points) == len(summary)
    for number, (row, data) in enumerate(zip(summary, points)):
        check_point(row, data, [one for one in classes if int(one["point"]) == number])
    pairs = rows("pairs.csv")
    assert len(pairs) >= len(points) - 1
    for pair in pairs:
        check_pair(pair, points)
print(compared)
sys.exit(0 if compared else 1)
