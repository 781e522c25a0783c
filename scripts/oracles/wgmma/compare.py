"""Compares the matrix instructions of a Hopper GPU with the model of aligned sums, bit for bit.

    python scripts/oracles/wgmma/compare.py [--tiles N] [--seed S] [--forms F,..] [--dry-run]

Needs nvcc, NumPy and a GPU of compute capability 9.0; torch for the last part. Every form of instruction gets N tiles
of 64 x 8 random and adversarial dot products. A first tile has small integers, which every rule adds exactly: if it
differs, the layout of operands is wrong, not the arithmetic. `variants` counts the differences from changed rules, in
every eighth chunk of tiles. Where a variant has none, the tiles do not distinguish it from the rule.
With $OUT set, `result.json` holds the report, `silicon.npz` samples of operands and results and the differing cases.
Exit code 1 if any value differs. No result of a GPU is recorded yet.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from multiprocessing import Pool
from pathlib import Path
from typing import NamedTuple

# One thread per process: the pool already has a process per core.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np  # noqa: E402

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "second"))

from aligned import FORMATS, NAN_CODES, Rule, add_many, dot_many  # noqa: E402
from aligned_cases import tiles, values  # noqa: E402

CHUNK = 32
STORED = {1: np.uint8, 2: np.uint16, 3: np.uint32, 4: np.uint32}
FLOATS = {"f32": (np.float32, np.uint32), "f16": (np.float16, np.uint16)}


class Form(NamedTuple):
    a: str
    b: str
    c: str
    rule: Rule
    # Hopper has no 8-bit `mma`: ptxas converts to f16 and issues two f16 instructions, for products k % 4 < 2 and
    # the others, of which the first starts at zero; it adds c to their result in ordinary arithmetic.
    converted: bool = False

    @property
    def bytes(self):
        return -(-FORMATS[self.a].bits // 8)

    @property
    def k(self):
        return 32 // (4 if self.a == "tf32" else self.bytes)


def forms():
    found = {}
    for a in ("e4m3", "e5m2"):
        for b in ("e4m3", "e5m2"):
            found[f"wgmma_{a}_{b}_f32"] = Form(a, b, "f32", Rule(13, "f32_e8m13"))
            found[f"wgmma_{a}_{b}_f16"] = Form(a, b, "f16", Rule(13, "f16"))
        found[f"mma_{a}_{a}_f32"] = Form(a, a, "f32", Rule(25), True)
    found["mma_e4m3_e4m3_f16"] = Form("e4m3", "e4m3", "f16", Rule(25, "f16"), True)
    for unit in ("wgmma", "mma"):
        for a in ("f16", "bf16", "tf32"):
            found[f"{unit}_{a}_{a}_f32"] = Form(a, a, "f32", Rule(25))
        found[f"{unit}_f16_f16_f16"] = Form("f16", "f16", "f16", Rule(25, "f16"))
    return found


FORMS = forms()


def variants(rule):
    """Returns neighbors of a rule, by name."""
    bits = rule.fraction_bits
    found = {f"fraction_bits {n}": rule._replace(fraction_bits=n) for n in (bits - 1, bits + 1, bits + 2)}
    found["cut floor"] = rule._replace(cut="floor")
    found["zero as subnormal"] = rule._replace(zero_as_subnormal=True)
    found["negative zero"] = rule._replace(negative_zero=True)
    if rule.result == "f32_e8m13":
        found["result f32"] = rule._replace(result="f32")
    return found


def predict(form, rule, a, b, c):
    """Returns D (tiles, 64, 8) for A (tiles, 64, k), B (tiles, 8, k) and C (tiles, 64, 8)."""

    def add(part, c):
        return add_many(rule, form.a, form.b, form.c, a[:, :, None, part], b[:, None, :, part], c)

    if not form.converted:
        return add(slice(None), c)
    low = np.arange(form.k) % 4 < 2
    dtype, view = FLOATS[form.c]
    parts = add(~low, add(low, np.zeros_like(c)))
    with np.errstate(all="ignore"):
        total = parts.view(dtype) + c.astype(view).view(dtype)
    return np.where(np.isnan(total), NAN_CODES[form.c], total.view(view)).astype(view)


def generate(task):
    name, seed, count = task
    form = FORMS[name]
    random = np.random.default_rng(seed)
    a, b, c = tiles(random, form.rule, form.a, form.b, form.c, form.k, count)
    return a.astype(STORED[form.bytes]), b.astype(STORED[form.bytes]), c.astype(FLOATS[form.c][1])


def compare(task):
    """Returns the number of differences, those from the variants, differing cases and a sample of all cases."""
    name, seed, a, b, c, d, with_variants = task
    form = FORMS[name]
    expected = predict(form, form.rule, a, b, c)
    different = np.argwhere(expected != d)
    counts = {}
    if with_variants:
        for key, rule in variants(form.rule).items():
            counts[key] = int((predict(form, rule, a, b, c) != d).sum())
    random = np.random.default_rng(seed)
    sample = np.stack([random.integers(0, size, 24) for size in d.shape], axis=1)
    few = different[random.permutation(len(different))[:24]]

    def cases(at):
        t, i, j = at.T
        return a[t, i], b[t, j], c[t, i, j], d[t, i, j], expected[t, i, j]

    return len(different), counts, cases(few), cases(sample)


def stored(form, codes, random=None):
    """Returns operands as the instruction reads them: tf32 in the high bits of a word whose low bits do not count."""
    if form.a != "tf32":
        return codes.astype(STORED[form.bytes])
    finite = (codes >> 10 & 255) < 255
    low = random.integers(0, 2**13, codes.shape) * finite if random is not None else 0
    return (codes << 13 | low).astype(np.uint32)


def codes_of_integers(name, integers):
    every = np.arange(2 ** FORMATS[name].bits - 1)
    known = values(name, every)
    return np.array([every[known == n][0] for n in range(-4, 5)])[integers + 4]


def run(program, name, a, b, c):
    form = FORMS[name]
    random = np.random.default_rng(0)
    view = FLOATS[form.c][1]
    if program is None:
        return predict(form, form.rule, a, b, c)
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/{which}" for which in "abcd"]
        for path, array in zip(paths, (stored(form, a, random), stored(form, b, random), c.astype(view))):
            array.tofile(path)
        subprocess.run([program, name, *paths], check=True)
        return np.fromfile(paths[3], view).reshape(c.shape)


def layout_is_right(program, name):
    """Runs one tile of small integers, whose sums every rule computes exactly."""
    form, random = FORMS[name], np.random.default_rng(7)
    a, b = random.integers(-4, 5, (1, 64, form.k)), random.integers(-4, 5, (1, 8, form.k))
    c = random.integers(-64, 65, (1, 64, 8))
    dtype, view = FLOATS[form.c]
    exact = np.matmul(a, np.swapaxes(b, -1, -2)) + c
    d = run(program, name, codes_of_integers(form.a, a), codes_of_integers(form.b, b), c.astype(dtype).view(view))
    wrong = int((d.view(dtype) != exact).sum())
    if wrong:
        print(f"{name}: layout of operands: {wrong} of 512 sums of small integers are wrong")
    return not wrong


def compare_form(pool, program, name, seed, count):
    form = FORMS[name]
    start = time.time()
    chunks = -(-count // CHUNK)
    made = pool.map(generate, [(name, [seed, i], CHUNK) for i in range(chunks)], chunksize=1)
    d = run(program, name, *(np.concatenate(arrays) for arrays in zip(*made)))
    tasks = [
        (name, [seed, i, 1], *made[i], d[i * CHUNK : (i + 1) * CHUNK], i % 8 == 0) for i in range(chunks)
    ]
    results = pool.map(compare, tasks, chunksize=1)
    differences = sum(result[0] for result in results)
    counts = {key: sum(result[1].get(key, 0) for result in results) for key in variants(form.rule)}
    few, sample = ([np.concatenate(part) for part in zip(*(r[i] for r in results))] for i in (2, 3))
    of = sum(task[-1] for task in tasks) * CHUNK * 512
    print(f"{name:22} {len(d):6} tiles {d.size:9} values {differences:8} differences {time.time() - start:6.1f} s")
    print(f"    of {of}: " + ", ".join(f"{key} {n}" for key, n in counts.items()))
    first = []
    for a, b, c, found, expected in list(zip(*few))[:3]:
        first.append({"a": a.tolist(), "b": b.tolist(), "c": int(c), "found": int(found), "expected": int(expected)})
        print(f"    a {a.tolist()}\n    b {b.tolist()}\n    c {c:#x} found {found:#x} expected {expected:#x}")
    sys.stdout.flush()
    report = {
        "tiles": len(d), "values": d.size, "differences": differences,
        "variants": counts, "variants_of": of, "first": first,
    }  # fmt: skip
    arrays = {
        f"{name}/{kind}/{key}": array[:2000]
        for kind, cases in (("different", few), ("sample", sample))
        for key, array in zip(("a", "b", "c", "found", "expected"), cases)
    }
    return report, arrays


def torch_layers(seed):
    """Compares torch._scaled_mm with chains of additions, with and without promotion."""
    try:
        import torch
    except ImportError:
        print("torch: not installed, torch._scaled_mm is not compared")
        return {}
    reports = {}
    for m, k, n in ((128, 512, 256), (64, 4096, 128)):
        random = np.random.default_rng([seed, k])
        # Spread of a layer's values: magnitudes of normal numbers, scaled into the format's range.
        a, b = (np.clip(random.normal(size=(rows, k)) * 64, -448, 448).astype(np.float32) for rows in (m, n))
        a, b = (torch.from_numpy(x).to(torch.float8_e4m3fn) for x in (a, b))
        codes_a, codes_b = (x.view(torch.uint8).numpy().astype(np.int64) for x in (a, b))
        hopper, wide = Rule(13, "f32_e8m13"), Rule(25)
        guesses = {"never": dot_many(hopper, "e4m3", "e4m3", 32, codes_a[:, None], codes_b[None], 0)}
        for promotion in (32, 64, 128, 256, 512, 1024):
            additions = promotion // 32
            guesses[str(promotion)] = dot_many(hopper, "e4m3", "e4m3", 32, codes_a[:, None], codes_b[None], additions)
        guesses["never, 25 bits"] = dot_many(wide, "e4m3", "e4m3", 32, codes_a[:, None], codes_b[None], 0)
        exact = values("e4m3", codes_a) @ values("e4m3", codes_b).T
        for fast, dtype in itertools.product((True, False), (torch.float32, torch.bfloat16)):
            key = f"{m}x{k}x{n} use_fast_accum={fast} {dtype}"
            try:
                one = torch.ones((), device="cuda")
                d = torch._scaled_mm(
                    a.cuda(), b.cuda().t(), scale_a=one, scale_b=one, out_dtype=dtype, use_fast_accum=fast
                ).cpu()
            except (RuntimeError, TypeError, ValueError) as error:
                reports[key] = {"error": str(error)}
                print(f"torch {key}: {error}")
                continue
            found = d.float().numpy()
            differences = {
                guess: int((torch.from_numpy(codes.view(np.float32)).to(dtype).float().numpy() != found).sum())
                for guess, codes in guesses.items()
            }
            error = float(np.abs(found - exact).max())
            reports[key] = {"values": found.size, "differences": differences, "largest_error": error}
            print(f"torch {key}: {found.size} values, largest error {error}, differences by products per promotion:")
            print("    " + ", ".join(f"{guess}: {count}" for guess, count in differences.items()), flush=True)
    return reports


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiles", type=int, default=2048, help="tiles per form, rounded up to a multiple of 32 [default: 2048]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--forms", help="comma-separated forms [default: all]")
    parser.add_argument("--dry-run", action="store_true", help="compute D with the model, without a GPU")
    options = parser.parse_args()
    names = options.forms.split(",") if options.forms else list(FORMS)
    start, reports, arrays = time.time(), {}, {}
    with tempfile.TemporaryDirectory() as folder, Pool() as pool:
        program = None if options.dry_run else f"{folder}/tiles"
        if program:
            command = ["nvcc", "-std=c++17", "-O1", "-gencode=arch=compute_90a,code=sm_90a"]
            subprocess.run([*command, "-o", program, str(HERE / "tiles.cu")], check=True)
            print(f"compiled after {time.time() - start:.1f} s", flush=True)
        for i, name in enumerate(names):
            try:
                if layout_is_right(program, name):
                    reports[name], found = compare_form(pool, program, name, [options.seed, i], options.tiles)
                    arrays |= found
                else:
                    reports[name] = {"error": "layout"}
            except subprocess.CalledProcessError as error:
                reports[name] = {"error": str(error)}
                print(f"{name}: {error}", flush=True)
    out = os.environ.get("OUT")
    if out:
        np.savez_compressed(Path(out, "silicon.npz"), **arrays)
    layers = {} if options.dry_run else torch_layers(options.seed)
    failed = [name for name, report in reports.items() if report.get("error") or report["differences"]]
    total = sum(report.get("values", 0) for report in reports.values())
    print(f"{total} values of {len(names)} forms after {time.time() - start:.0f} s; not equal: {failed or 'none'}")
    if out:
        Path(out, "result.json").write_text(json.dumps({"forms": reports, "torch": layers}, indent=1))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
