#!/usr/bin/env python3
"""Computes intervals, p values and areas with SciPy, statsmodels and scikit-learn: reports/tests/data/statistics.json.

Run with a Python that has scripts/requirements/statistics.txt; prints the file. With a seed as its argument, random
cases replace the fixed ones.
"""

import json
import sys

import numpy as np
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

WHOLES = [1, 2, 3, 7, 10, 64, 100, 540, 1000, 10_000, 123_457]
PAIRS = [(0, 0), (1, 0), (0, 1), (1, 1), (5, 0), (2, 7), (12, 12), (24, 0), (3, 21), (13, 11), (25, 0), (12, 13), (13, 13),
         (0, 26), (40, 22), (100, 100), (150, 80), (1000, 900), (5000, 4900), (3, 600)]


def parts():
    for whole in WHOLES:
        for part in sorted({0, 1, whole // 3, whole // 2, whole - 1, whole}):
            yield part, whole


def intervals(cases):
    for part, whole in cases:
        low, high = proportion_confint(part, whole, method="wilson")
        other = binomtest(part, whole).proportion_ci(method="wilson")
        assert abs(low - other.low) < 1e-12 and abs(high - other.high) < 1e-12, (part, whole)
        yield [part, whole, float(min(max(low, 0), 1)), float(min(max(high, 0), 1))]


def tests(cases):
    for first, second in cases:
        exact = first + second < 25
        table = [[7, first], [second, 9]]
        p = 1.0 if first + second == 0 else mcnemar(table, exact=exact, correction=True).pvalue
        yield [first, second, "exact" if exact else "chi2", float(min(p, 1.0))]


def areas(random, cases):
    for samples, levels in cases:
        flags = random.integers(0, 2, samples)
        flags[:2] = [0, 1]
        scores = (random.integers(0, levels, samples) + flags * (levels // 3)).astype(np.float32) / np.float32(7)
        area = roc_auc_score(flags, scores)
        yield [scores.view(np.uint32).tolist(), flags.tolist(), float(area)]


def random_cases(random):
    """Returns equally many small and large numbers."""
    wholes = [int(10 ** random.uniform(0, 6)) for _ in range(2000)]
    counts = [int(10 ** random.uniform(0, 4)) - 1 for _ in range(4000)]
    sizes = [int(10 ** random.uniform(0.5, 3)) for _ in range(200)]
    return (
        [(int(random.integers(0, whole + 1)), whole) for whole in wholes],
        list(zip(counts[::2], counts[1::2])),
        [(size, int(10 ** random.uniform(0.4, 6))) for size in sizes],
    )


if len(sys.argv) > 1:
    random = np.random.default_rng(int(sys.argv[1]))
    shares, pairs, sizes = random_cases(random)
else:
    random = np.random.default_rng(0)
    shares, pairs, sizes = parts(), PAIRS, [(2, 2), (9, 3), (50, 5), (50, 10_000), (500, 20), (500, 100_000)]
figures = {"wilson": list(intervals(shares)), "mcnemar": list(tests(pairs)), "auc": list(areas(random, sizes))}
print(json.dumps(figures, separators=(",", ":")))
