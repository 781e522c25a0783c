"""Compares the two models of aligned sums with each other: rational numbers and NumPy.

    python scripts/second/check_aligned.py [--cases N] [--print M] [--seed S]

Every combination of operand formats, result, fraction bits, cut and rules for zeros gets its share of N random and
adversarial additions. Exit code 1 if any code differs. With --print, M other additions and their results by NumPy
follow on stdout, one line of JSON per rule, for the test that compares guardbit with them.
"""

import argparse
import json
import sys
from math import ceil

import numpy as np

from aligned import Rule, add_apart_exact, add_exact, add_many, add_scaled_exact, dot_many, pairwise_many
from aligned_cases import operands, tiles

# Operand formats, number of products, fraction bits, results.
KINDS = [
    ("e4m3", "e4m3", 32, (13, 14, 25), ("f32_e8m13", "f32", "f16")),
    ("e4m3", "e5m2", 32, (13, 25), ("f32_e8m13", "f16")),
    ("e5m2", "e5m2", 16, (13, 24), ("f32_e8m13", "f32")),
    ("e4m3fnuz", "e5m2fnuz", 16, (24,), ("f32",)),
    ("e3m2", "e2m3", 32, (25,), ("f32",)),
    ("e2m1", "e2m1", 32, (25, 35), ("f32",)),
    ("f16", "f16", 4, (23,), ("f32", "f16")),
    ("f16", "f16", 16, (24, 25), ("f32", "f16")),
    ("bf16", "bf16", 16, (25, 35), ("f32",)),
    ("tf32", "tf32", 8, (25,), ("f32",)),
]

# Units with block scales, and those that add the accumulator after the products: operand formats, products, addition.
UNITS = [
    ("mxf8f6f4", "e4m3", "e5m2", 32, lambda f, a, b, s, c: add_scaled_exact(25, f, "ue8m0", 1, a, b, s, c)),
    ("mxf8f6f4", "e2m1", "e3m2", 32, lambda f, a, b, s, c: add_scaled_exact(25, f, "ue8m0", 1, a, b, s, c)),
    ("mxf4", "e2m1", "e2m1", 64, lambda f, a, b, s, c: add_scaled_exact(35, f, "ue8m0", 16, a, b, s, c)),
    ("nvf4", "e2m1", "e2m1", 64, lambda f, a, b, s, c: add_scaled_exact(35, f, "ue4m3", 16, a, b, s, c)),
    ("cdna3 mfma f16", "f16", "f16", 8, lambda f, a, b, s, c: add_apart_exact(f, False, None, a, b, c)),
    ("cdna3 mfma f16", "bf16", "bf16", 8, lambda f, a, b, s, c: add_apart_exact(f, False, None, a, b, c)),
    ("cdna3 mfma xf32", "tf32", "tf32", 4, lambda f, a, b, s, c: add_apart_exact(f, False, None, a, b, c)),
    ("cdna3 mfma fp8", "e4m3fnuz", "e5m2fnuz", 16, lambda f, a, b, s, c: add_apart_exact(f, True, 25, a, b, c)),
]
# Units that add pairwise: name, operand format, products of a group, whether subnormals become zero.
PAIRWISE = [
    ("cdna1 mfma f16", "f16", 4, False),
    ("cdna1 mfma bf16", "bf16", 2, False),
    ("cdna2 mfma f16", "f16", 4, True),
    ("cdna2 mfma bf16", "bf16", 2, True),
    ("cdna2 mfma bf16_1k", "bf16", 4, True),
]
# Codes of scales: some near 1, or all, which include NaN.
SCALES = {"mxf8f6f4": (120, 136), "mxf4": (117, 138), "nvf4": (0, 128)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--print", type=int, default=0, metavar="M")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    runs = [
        (a, b, k, Rule(bits, result, cut, variant, variant))
        for a, b, k, widths, results in KINDS
        for bits in widths
        for result in results
        for cut in ("zero", "floor")
        for variant in (False, True)
    ]
    compared = different = 0
    for a_format, b_format, k, rule in runs:
        c_format = "f16" if rule.result == "f16" else "f32"
        a, b, c, found = computed(random, rule, a_format, b_format, c_format, k, options.cases / len(runs))
        for at in np.ndindex(c.shape):
            case = a[at].tolist(), b[at].tolist(), int(c[at])
            expected = add_exact(rule, a_format, b_format, c_format, *case)
            compared += 1
            if expected != found[at]:
                different += 1
                if different <= 5:
                    explain(rule, a_format, b_format, *case, f"expected {expected:#x}, found {found[at]:#x}")
    explain(f"{compared} additions by {len(runs)} rules: {different} differences")
    runs = [run for run in runs if options.print and not run[3].zero_as_subnormal]
    for a_format, b_format, k, rule in runs:
        c_format = "f16" if rule.result == "f16" else "f32"
        a, b, c, found = computed(random, rule, a_format, b_format, c_format, k, options.print / len(runs))
        arrays = {"a": a.reshape(-1, k), "b": b.reshape(-1, k), "c": c.ravel(), "d": found.ravel()}
        formats = {"a_format": a_format, "b_format": b_format, "c_format": c_format}
        print(json.dumps(rule._asdict() | formats | {key: array.tolist() for key, array in arrays.items()}))
    for unit, a_format, b_format, k, add in UNITS if options.print else []:
        a, b, c, _ = computed(random, Rule(24), a_format, b_format, "f32", k, options.print / 100)
        lines = []
        for x, y, z in zip(a.reshape(-1, k).tolist(), b.reshape(-1, k).tolist(), c.ravel().tolist()):
            scales = random.integers(*SCALES.get(unit, (0, 1)), (4 if "nvf4" in unit else 2 if "mxf4" in unit else 1, 2))
            lines.append((x, y, scales.tolist(), z, add((a_format, b_format), x, y, scales.tolist(), z)))
        print(json.dumps({"unit": unit, "a_format": a_format, "b_format": b_format, "cases": lines}))
    # Dot products of 300 products, whose last addition and promotion are partly filled.
    for promotion in (0, 1, 4) if options.print else []:
        rule = Rule(13, "f32_e8m13")
        a, b = (operands(random, "e4m3", options.print // 200, 300, 7) for _ in "ab")
        d = dot_many(rule, "e4m3", "e4m3", 32, a, b, promotion)
        print(json.dumps({"promotion": promotion, "a": a.tolist(), "b": b.tolist(), "d": d.tolist()}))
    for name, a_format, group, flush in PAIRWISE if options.print else []:
        a, b, c = tiles(random, Rule(24), a_format, a_format, "f32", 16, ceil(options.print / 3200), rows=8, columns=4)
        a, b = (x.reshape(-1, 16) for x in np.broadcast_arrays(a[:, :, None], b[:, None]))
        d = pairwise_many(a_format, group, flush, a, b, c.ravel())
        arrays = {"a": a.tolist(), "b": b.tolist(), "c": c.ravel().tolist(), "d": d.tolist()}
        print(json.dumps({"pairwise": name, "a_format": a_format} | arrays))
    return different > 0


def computed(random, rule, a_format, b_format, c_format, k, count):
    """Returns operands and results of at least `count` additions."""
    a, b, c = tiles(random, rule, a_format, b_format, c_format, k, ceil(count / 32), rows=8, columns=4)
    a, b = np.broadcast_arrays(a[:, :, None], b[:, None])
    return a, b, c, add_many(rule, a_format, b_format, c_format, a, b, c)


def explain(*words):
    print(*words, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
