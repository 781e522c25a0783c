"""Benchmarks tools comparable to guardbit; prints rows of a CSV table: tool, subject, setting, threads, figure, unit.

        python scripts/benchmarks/bench_peers.py layer                            per-step sums of one layer in NumPy
        python scripts/benchmarks/bench_peers.py torch                            per-step sums of that layer in PyTorch
    python scripts/benchmarks/bench_peers.py network MODEL.tflite IMAGES.npy  exact int8 inference in LiteRT
    python scripts/benchmarks/bench_peers.py verilator BUNDLE                 a bundle of test vectors replayed in Verilator

The layer is that of `throughput layer`: 3x3, 64 channels in and out, 16x16 pixels, K = 576. A step adds one product to
every sum, saturates it and counts the overflows, for all outputs at once, as a user would write it. NumPy runs it in a
plain 32-bit form. NumPy and PyTorch also run a fast form: 16 bits, almost no allocation in the loop, and rows and
columns in the faster order. All times are CPU time on one thread, so that other processes do not count.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

PIXELS, CHANNELS, TERMS, BITS = 256, 64, 576, 14
MACS = PIXELS * CHANNELS * TERMS
BATCH = 64


def row(tool, subject, setting, figure, unit):
    print(f"{tool},{subject},{setting},1,{figure:.3f},{unit}", flush=True)


def plain_numpy_steps(x, w):
    low, high = -(1 << BITS - 1), (1 << BITS - 1) - 1
    held = np.zeros((PIXELS, CHANNELS), np.int32)
    events = 0
    for k in range(TERMS):
        held = held + x[:, k, None] * w[k]
        events += np.count_nonzero((held > high) | (held < low))
        held = np.clip(held, low, high)
    return held, events


def numpy_steps(x, w):
    low, high = -(1 << BITS - 1), (1 << BITS - 1) - 1
    held = np.zeros((CHANNELS, PIXELS), np.int16)
    exact, differs = np.empty_like(held), np.empty(held.shape, bool)
    events = 0
    for w_k, x_k in zip(w[:, :, None], np.ascontiguousarray(x.T)):
        # |held| <= 8192 and |product| <= 16384, so 16 bits hold the exact sum.
        np.multiply(w_k, x_k, out=exact)
        np.add(held, exact, out=exact)
        exact.clip(low, high, out=held)
        np.not_equal(exact, held, out=differs)
        events += np.count_nonzero(differs)
    return held.T, events


def torch_steps(torch, x, w):
    low, high = -(1 << BITS - 1), (1 << BITS - 1) - 1
    held, exact, events = torch.zeros((3, CHANNELS, PIXELS), dtype=torch.int16).unbind()
    for w_k, x_k in zip(w.unsqueeze(2).unbind(), x.t().contiguous().unbind()):
        torch.addcmul(held, w_k, x_k, out=exact)
        torch.clamp(exact, low, high, out=held)
        # Comparisons that return 16-bit numbers, and their sum, are vectorized; comparisons that return bools are not.
        events.add_(exact.ne_(held))
    return held.t(), int(events.sum())


def operands():
    rng = np.random.default_rng(0)
    x = rng.integers(-128, 128, (PIXELS, TERMS)).astype(np.int16)
    w = rng.integers(-128, 128, (TERMS, CHANNELS)).astype(np.int16)
    return x, w


def timed(run):
    """Returns the result and the CPU time of a run in seconds, averaged over as many runs as fill half a second."""
    result = run()
    runs, start = 0, time.process_time()
    while (spent := time.process_time() - start) < 0.5:
        run()
        runs += 1
    return result, spent / runs


def layer():
    x, w = operands()
    (held, events), seconds = timed(lambda: numpy_steps(x, w))
    row("numpy", "layer", f"{BITS} bits saturating events int16 in place", MACS / seconds / 1e9, "GMAC/s")
    wide = [a.astype(np.int32) for a in (x, w)]
    (same, same_events), seconds = timed(lambda: plain_numpy_steps(*wide))
    assert (same == held).all() and same_events == events
    row("numpy", "layer", f"{BITS} bits saturating events int32", MACS / seconds / 1e9, "GMAC/s")


def torch_layer():
    import torch

    x, w = operands()
    held, events = numpy_steps(x, w)
    torch.set_num_threads(1)
    with torch.inference_mode():
        (same, same_events), seconds = timed(lambda: torch_steps(torch, torch.from_numpy(x), torch.from_numpy(w)))
    assert (same.numpy() == held).all() and same_events == events
    row("pytorch", "layer", f"{BITS} bits saturating events int16 in place", MACS / seconds / 1e9, "GMAC/s")


def network(model, images):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    images = np.load(images)
    kinds = {"xnnpack": OpResolverType.AUTO, "reference": OpResolverType.BUILTIN_REF}
    for kind, resolver in kinds.items():
        interpreter = Interpreter(model_path=model, experimental_op_resolver_type=resolver, num_threads=1)
        interpreter.allocate_tensors()
        index = interpreter.get_input_details()[0]["index"]
        batch = [images[i % len(images)][None] for i in range(BATCH)]

        def infer():
            for sample in batch:
                interpreter.set_tensor(index, sample)
                interpreter.invoke()

        _, seconds = timed(infer)
        name = model.rsplit("/", 1)[-1].removesuffix(".tflite")
        row("litert", name, f"exact int8 {kind}", seconds / BATCH * 1e3, "ms/inference")


def verilator(bundle):
    manifest = json.loads((bundle / "manifest.json").read_text())
    beats = next(file["words"] for file in manifest["files"] if file["path"] == "stim_a.mem")
    macs = beats * manifest["interface"]["lanes"]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "bundle"
        shutil.copytree(bundle, work)
        sources = [f"rtl/{path.name}" for path in sorted((work / "rtl").glob("*.sv")) if "array" not in path.name]
        flags = ["--binary", "--timing", "-O3", "-Wno-fatal", "-Wno-WIDTH", "--top-module", "tb"]
        speed = ["-MAKEFLAGS", "OPT_FAST=-O2 OPT_SLOW=-O2 OPT_GLOBAL=-O2"]
        build = ["verilator", *flags, *speed, "--Mdir", "verilated", "-o", "Vtb", *sources, "tb_params.sv", "tb_clock.sv", "tb_ports.sv", "tb.sv"]
        subprocess.run(build, cwd=work, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before = os.times()
        subprocess.run(["./verilated/Vtb"], cwd=work, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    setting = f"{manifest['source']['accelerator']} {macs} products"
    row("verilator", "reference RTL", setting, macs / seconds / 1e9, "GMAC/s")


if __name__ == "__main__":
    if sys.argv[1:] == ["layer"]:
        layer()
    elif sys.argv[1:] == ["torch"]:
        torch_layer()
    elif sys.argv[1:2] == ["network"] and len(sys.argv) == 4:
        network(*sys.argv[2:])
    elif sys.argv[1:2] == ["verilator"] and len(sys.argv) == 3:
        verilator(Path(sys.argv[2]))
    else:
        sys.exit(__doc__)
