"""Recomputes the sums of the digits network in several orders of addition with NumPy, and compares the output of
`guardbit run`.

    python scripts/second/check_orders.py GUARDBIT [--samples N]

GUARDBIT is the program to check. Weights are read by LiteRT. The activations of each layer are those that the run wrote
(`--dump-tensors`), so that every layer is checked separately. Compares every exact and delivered sum, every count and
extreme of `layers.csv`, and every bin of `sum_histograms.npz`. Exit code 1 if anything differs.
"""

import argparse
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from arithmetic_orders import arranged, random_permutation

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "oracles"))

import litert_dump  # noqa: E402

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"
MODEL = DIGITS / "digits_int8.tflite"
POINTS = [
    ("forward", 12, "saturate"), ("sorted", 12, "saturate"), ("sorted", 14, "saturate"), ("sorted", 16, "saturate"),
    ("sorted", 13, "wrap"), ("sign_paired", 12, "saturate"), ("sign_paired", 14, "wrap"), ("greedy", 12, "saturate"),
    ("greedy", 14, "saturate"), ("greedy", 13, "wrap"), ("random", 13, "saturate"),
]
SEED = 5


def layers():
    """Returns, for each layer, the output name, weights, and a function from activation codes to products `[n,
    outputs..., k]`."""
    interpreter = litert_dump.open_model(MODEL)
    tensors = {t["index"]: t for t in interpreter.get_tensor_details()}
    for op in interpreter._get_ops_details():
        if op["op_name"] not in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"):
            continue
        x, w = (tensors[i] for i in op["inputs"][:2])
        out = tensors[op["outputs"][0]]
        weights = interpreter.get_tensor(w["index"]).astype(np.int64)
        yield out["name"], x["name"], maker(op["op_name"], x, weights, out["shape"])


def maker(kind, x, weights, shape):
    zero = x["quantization"][1]

    def products(codes):
        values = codes.astype(np.int64) - zero
        if kind == "FULLY_CONNECTED":
            return values.reshape(len(codes), 1, -1) * weights
        _, rows, cols, _ = shape
        kh, kw = weights.shape[1:3]
        missing = [rows + kh - 1 - values.shape[1], cols + kw - 1 - values.shape[2]]
        pad = [(0, 0), *((m // 2, m - m // 2) for m in missing), (0, 0)]
        values = np.pad(values, pad)
        taps = np.stack([values[:, i : i + rows, j : j + cols] for i in range(kh) for j in range(kw)], axis=3)
        if kind == "DEPTHWISE_CONV_2D":
            return np.moveaxis(taps * weights.reshape(kh * kw, -1), 3, 4)
        flat = taps.reshape(*taps.shape[:3], 1, -1)
        return flat * weights.reshape(len(weights), -1)

    return products


def ordered(walk, products):
    """Returns the products along the last axis in the order of addition."""
    if walk == "sorted":
        return np.sort(products, axis=-1)
    if walk == "random":
        return products[..., random_permutation(SEED, products.shape[-1])]
    if walk == "forward":
        return products
    rows = products.reshape(-1, products.shape[-1])
    return np.array([row[arranged(walk, row.tolist(), 0)] for row in rows]).reshape(products.shape)


def accumulated(products, bits, mode):
    """Returns the final value of a serial register, and how often it left its range above and below."""
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    held = np.zeros(products.shape[:-1], np.int64)
    events = np.zeros((2, *held.shape), np.int64)
    for k in range(products.shape[-1]):
        total = held + products[..., k]
        events += np.stack([total > high, total < low])
        held = np.clip(total, low, high) if mode == "saturate" else (total - low) % 2**bits + low
    return held, *events


def bits_of(values):
    return max(int(~v if v < 0 else v).bit_length() + 1 for v in (values.min(), values.max()))


def histogram(edges, values):
    """Returns the bins, and the counts below and above them, by channel: the last axis."""
    bins = np.concatenate([[-np.inf], edges, [np.inf]])
    flat = values.reshape(-1, values.shape[-1])
    return np.stack([np.histogram(channel, bins)[0] for channel in flat.T])


def point(guardbit, walk, bits, mode, samples, folder):
    x, out = folder / "x.npy", folder / "out"
    np.save(x, np.load(DIGITS / "test_images.npy")[:samples])
    found = list(layers())
    sets = [f"reduction_order.walk={walk}", f"accumulation.acc.bits={bits}", f"accumulation.acc.overflow={mode}"]
    if walk == "random":
        sets.append(f"reduction_order.seed={SEED}")
    command = [guardbit, "--quiet", "--force", "run", MODEL, "--hw", "fpga-int14-os", "--input", x, "--dump-tensors"]
    command += ["--histograms", "--dump-sums", ",".join(name for name, *_ in found), "-o", out]
    subprocess.run([*command, *(word for text in sets for word in ("--set", text))], check=True, stdout=subprocess.DEVNULL)
    tensors, sums, bins = (np.load(out / f"{name}.npz") for name in ("tensors", "sums", "sum_histograms"))
    with open(out / "layers.csv") as file:
        rows = {row["layer"]: row for row in csv.DictReader(file)}
    different, values = [], 0

    def same(what, ours, theirs):
        nonlocal values
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        values += ours.size
        if ours.shape != theirs.shape or (ours != theirs).any():
            different.append(f"{walk} {bits} {mode} {what}: {theirs.ravel()[:5]}, expected {ours.ravel()[:5]}")

    for name, source, products in found:
        products = ordered(walk, products(tensors[f"simulated/{source}"]))
        exact = products.sum(-1)
        held, high, low = accumulated(products, bits, mode)
        shape = sums[f"exact/{name}"].shape
        same(f"{name} exact", exact.reshape(shape), sums[f"exact/{name}"])
        same(f"{name} delivered", held.reshape(shape), sums[f"delivered/{name}"])
        prefixes = products.cumsum(-1)
        least, greatest = np.minimum(prefixes.min(-1), 0), np.maximum(prefixes.max(-1), 0)
        holds = lambda sums: (-(2 ** (bits - 1)) <= sums) & (sums < 2 ** (bits - 1))
        row = rows[name]
        fits = holds(exact)
        counts = {
            "dots": exact.size, "adds": products.size, "events": (high + low).sum(), "events_high": high.sum(),
            "events_low": low.sum(), "outputs_touched": (high + low > 0).sum(), "persistent": (~fits).sum(),
            "transient": (fits & ~(holds(least) & holds(greatest))).sum(), "wrong": (held != exact).sum(),
            "min_prefix": least.min(), "max_prefix": greatest.max(), "required_final": bits_of(exact),
            "required_prefix": max(bits_of(least), bits_of(greatest)), "sum_abs_err": abs(held - exact).sum(),
        }
        for key, value in counts.items():
            same(f"{name} {key}", int(value), int(row[key]))
        if walk == "greedy":
            # Only a product that does not fit alone takes such a sum out of range before its end.
            each = holds(products).all(-1)
            same(f"{name} transient, greedy", 0, (each & fits & ~(holds(least) & holds(greatest))).sum())
        edges = bins[f"edges/{name}/acc"]
        for kind, sums_of in (("final", exact), ("min_prefix", least), ("max_prefix", greatest)):
            same(f"{name} {kind}", histogram(edges, sums_of), bins[f"{kind}/{name}/acc"])
    return different, values


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("guardbit", type=Path)
    parser.add_argument("--samples", type=int, default=6)
    args = parser.parse_args()
    total, failed = 0, []
    for walk, bits, mode in POINTS:
        with tempfile.TemporaryDirectory() as folder:
            different, values = point(args.guardbit.resolve(), walk, bits, mode, args.samples, Path(folder))
        total, failed = total + values, failed + different
    print(f"{len(POINTS)} orders and widths, {total} values compared, {len(failed)} differ", *failed[:8], sep="\n  ")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
