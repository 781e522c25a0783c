#!/usr/bin/env python3
"""Draws accelerators and small layers, exports a bundle of each, and runs `guardbit check --mutate` on it.

    scripts/check_random_accelerators.py 200              seeds 0 to 199
    scripts/check_random_accelerators.py 20 --first 40    seeds 40 to 59

Prints a line per seed: what it is, how the check ended, and what was missed. A seed always gives the same accelerator and
layer. Exit code 1 if any check fails, or if a bin is missed without a proof.

GUARDBIT: the program (default target/debug/guardbit). JOBS: number of parallel jobs (default 2).
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

GUARDBIT = os.environ.get("GUARDBIT", str(Path(__file__).parent.parent / "target/debug/guardbit"))
MODES = ["wrap", "saturate", "saturate_symmetric", "saturate_zero", "sticky", "observe"]
ROUNDINGS = ["floor", "toward_zero", "half_up", "half_down", "half_away", "half_to_zero", "half_even", "half_odd"]
# The schemes that the reference design computes, and one that it leaves to the user.
SCHEMES = ["double", "single", "away", "even", "float64_away", "tosa_double"]


def layer(draw: random.Random) -> dict:
    """Returns a network of one layer, in YAML's subset JSON."""
    op = draw.choice(["conv2d", "conv2d", "depthwise_conv2d", "fully_connected", "fully_connected"])
    if op == "fully_connected":
        channels, outputs = draw.randint(1, 70), draw.randint(1, 9)
        shape, weights = [1, channels], [outputs, channels]
    else:
        side, kernel = draw.randint(3, 5), draw.choice([[1, 1], [2, 2], [3, 3], [3, 1]])
        channels, outputs = draw.randint(1, 5), draw.randint(1, 5)
        shape = [1, side, side, channels]
        weights = [1, *kernel, channels] if op == "depthwise_conv2d" else [outputs, *kernel, channels]
        outputs = channels if op == "depthwise_conv2d" else outputs
    unsigned = draw.random() < 0.25
    dtype = "uint8" if unsigned else "int8"
    zero_point = draw.randint(0, 255) if unsigned else draw.choice([0, -128, draw.randint(-128, 127)])
    weight_dtype = draw.choice(["int8", "int8", "int8", "int4"])
    high = 7 if weight_dtype == "int4" else 127
    bias = draw.random() < 0.8
    most = draw.choice([50, 1000, 30_000, 1_000_000])
    constants = [
        {"name": "w", "dtype": weight_dtype, "shape": weights, "scale": 0.01, "random": {"seed": draw.randint(0, 99), "min": -high}}
    ]
    if bias:
        values = [draw.randint(-most, most) for _ in range(outputs)]
        constants.append({"name": "b", "dtype": "int32", "shape": [outputs], "values": values})
    output_zero = draw.choice([0, draw.randint(0, 255)]) if unsigned else draw.choice([-128, 0, draw.randint(-128, 127)])
    node = {
        "op": op,
        "inputs": ["x", "w", "b" if bias else None],
        "output": {"name": "y", "dtype": dtype, "scale": draw.choice([0.05, 0.2, 0.7]), "zero_point": output_zero},
        "activation": draw.choice(["none", "none", "relu", "relu6"]),
    }
    if op != "fully_connected":
        node["padding"] = draw.choice(["same", "valid"])
        node["stride"] = draw.choice([[1, 1], [2, 2], [1, 2]]) if op == "conv2d" else [1, 1]
    source = {"name": "x", "shape": shape, "dtype": dtype, "scale": 0.05, "zero_point": zero_point}
    return {"schema": 1, "name": "layer", "inputs": [source], "constants": constants, "nodes": [node], "outputs": ["y"]}


def rounding(draw: random.Random, often: float) -> dict:
    """Returns the dropped bits and their rounding."""
    if draw.random() > often:
        return {}
    return {"shift": draw.randint(1, 4), "round": draw.choice(ROUNDINGS)}


def level(draw: random.Random, name: str, low: int, high: int) -> dict:
    """Returns a serial level of a drawn width."""
    found = {"name": name, "bits": draw.randint(low, high), "overflow": draw.choice(MODES)}
    if draw.random() < 0.25:
        found["check"] = "hand_over"
    return {**found, **rounding(draw, 0.2)}


def accelerator(draw: random.Random) -> dict:
    """Returns an accelerator."""
    kind = draw.choice(["os", "ws", "tree", "two", "three"])
    last = {**level(draw, "acc", 8, 24), "terms": "all"}
    found = {
        "schema": 1,
        "array": {"rows": draw.randint(1, 6), "cols": draw.randint(1, 5)},
        "dataflow": "output_stationary",
        "accumulation": [last],
    }
    if kind == "ws":
        found["dataflow"] = "weight_stationary"
        found["accumulation"] = [{**level(draw, "chain", 10, 20), "terms": "rows"}, last]
    if kind == "tree":
        found["dataflow"] = "vector"
        found["array"] = {"rows": 1, "cols": draw.randint(1, 4), "dot_width": draw.randint(2, 9)}
        tree = {**level(draw, "tree", 10, 20), "reduce": "tree", "terms": "dot_width"}
        found["accumulation"] = [tree, last]
    if kind in ("two", "three"):
        found["dataflow"] = draw.choice(["output_stationary", "vector"])
        inner = {**level(draw, "inner", 9, 18), "terms": draw.randint(2, 9)}
        middle = {**level(draw, "middle", 10, 20), "terms": draw.randint(2, 4)}
        found["accumulation"] = [inner, middle, last] if kind == "three" else [inner, last]
    if draw.random() < 0.25:
        found["product"] = {"bits": draw.randint(10, 17), "overflow": draw.choice(MODES), **rounding(draw, 0.5)}
    elif draw.random() < 0.2:
        found["product"] = rounding(draw, 1.0)
    at = draw.choice(["post", "post", "preload", "post_requantize"])
    found["bias"] = {"at": at}
    if at == "post" and draw.random() < 0.5:
        found["bias"].update(bits=draw.randint(10, 24), overflow=draw.choice(MODES))
    if draw.random() < 0.3:
        found["operands"] = {"zero_point": "fold"}
    if draw.random() < 0.3:
        found["reduction_order"] = {"walk": draw.choice(["reverse", "stride", "random"]), "stride": 3}
        if found["reduction_order"]["walk"] != "stride":
            del found["reduction_order"]["stride"]
    found["requantize"] = {"scheme": draw.choice(SCHEMES)}
    return found


def short(found: dict) -> str:
    """Returns an accelerator in a few words."""
    levels = " ".join(
        f"{l['name']}:{l['bits']}{l['overflow']}{'/ho' if 'check' in l else ''}{'>>' + str(l['shift']) if 'shift' in l else ''}"
        for l in found["accumulation"]
    )
    return f"{found['dataflow'][:6]} {levels} bias {found['bias']['at']} {found['requantize']['scheme']}"


def run(seed: int) -> tuple[int, str, str, list[str]]:
    """Checks one seed: returns it, its accelerator, how it ended, and what was missed."""
    draw = random.Random(seed)
    network, hardware = layer(draw), accelerator(draw)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("net.yaml", "hw.yaml", "bundle")]
        paths[0].write_text(json.dumps(network))
        paths[1].write_text(json.dumps(hardware))
        net, hw, bundle = map(str, paths)
        export = [GUARDBIT, "vectors", net, "--hw", hw, "--layer", "0", "--random", "2", "--cases", "4", "--quiet", "-o", bundle]
        done = subprocess.run(export, capture_output=True, text=True)
        if done.returncode != 0:
            return seed, short(hardware), "refused", (done.stderr or done.stdout).split("\n")[:4]
        bins = json.loads(Path(bundle, "manifest.json").read_text())["coverage"]["bins"]
        missed = [f"bin {b['level']} {b['name']}" for b in bins if b["cases"] == 0 and not b.get("unreachable")]
        check = [GUARDBIT, "check", bundle, "--simulator", "icarus", "--mutate", "--json"]
        done = subprocess.run(check, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            return seed, short(hardware), f"exit {done.returncode}", [done.stderr[:300]]
        report = json.loads(done.stdout)
        for item in report["checks"]:
            if item["outcome"]["result"] == "fail":
                missed.append(f"check {item['check']}: {json.dumps(item['outcome'])[:300]}")
        for item in report["mutants"]:
            if item["caught"] == bool(item["equivalent"]):
                missed.append(f"mutant {item['mutant']}: {'contradicted' if item['caught'] else 'missed'}")
        return seed, short(hardware), "pass" if done.returncode == 0 and not missed else "FAIL", missed


def main() -> int:
    """Runs the seeds, and returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--write", type=Path, help="write the network and the accelerator of seed FIRST here, and stop")
    args = parser.parse_args()
    if args.write:
        draw = random.Random(args.first)
        for name, content in [("net.yaml", layer(draw)), ("hw.yaml", accelerator(draw))]:
            (args.write / name).write_text(json.dumps(content, indent=1) + "\n")
        return 0
    results = []
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for seed, words, result, missed in pool.map(run, range(args.first, args.first + args.count)):
            print(f"{seed:4} {result:8} {words}", *missed, sep="\n       ", flush=True)
            results.append(result)
    print(", ".join(f"{results.count(kind)} {kind}" for kind in sorted(set(results))))
    return int(results.count("pass") < len(results))


if __name__ == "__main__":
    sys.exit(main())
