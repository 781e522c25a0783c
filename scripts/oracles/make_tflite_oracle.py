"""Creates networks of one operator, and a few with variables, and records the results of TensorFlow Lite's runtimes.

    pip install -r scripts/requirements/oracle.txt
    python scripts/oracles/make_tflite_oracle.py OUT.json [--seed N] [--times N] [--per-op N] [--only NAME] [--golden]
    python scripts/oracles/make_tflite_oracle.py OUT.json --files NETWORK.tflite ... [--seed N] [--times N]

Each case has the file (hexadecimal), the codes of its inputs, and per runtime the codes of its outputs or its error
message. Runtimes:
`litert_ref` (LiteRT, reference kernels), `tflm` (TensorFlow Lite Micro), `xnnpack` (LiteRT with its default delegate).
Everything is drawn from the seed.
"""

import argparse
import collections
import json
import zlib
from pathlib import Path

import ai_edge_litert.interpreter  # noqa: F401, loaded once for all children
import numpy as np
import tflite_micro  # noqa: F401
from tflite_cases import CASES, Draw
from tflite_models import DTYPES, RUNTIMES, build, run, run_steps, schema
from tflite_streams import STREAMS


def record(name, make, dtype, seed):
    """Returns one case."""
    draw = Draw([zlib.crc32(name.encode()), zlib.crc32(dtype.encode()), seed])
    builtin, options, inputs, outputs = make(draw, dtype)
    codes = [tensor.codes for tensor in inputs if tensor is not None and not tensor.constant and tensor.source is None]
    results = {}
    # The output shapes come from the first runtime that computes them.
    for runtime in RUNTIMES:
        results[runtime] = run(runtime, build(builtin, options, inputs, outputs), codes)
        if runtime == "litert_ref" and not isinstance(results[runtime], str):
            for tensor, made in zip(outputs, results[runtime], strict=True):
                tensor.shape = list(made.shape)
    described = {runtime: result if isinstance(result, str) else [flat(r) for r in result] for runtime, result in results.items()}
    model = build(builtin, options, inputs, outputs).hex()
    return {"name": f"{name}/{dtype}/{seed}", "model": model, "inputs": [flat(c) for c in codes]} | described


def record_stream(name, make, dtype, seed):
    """Returns a case of a network with variables, with inputs and outputs of consecutive steps."""
    model, steps = make(Draw([zlib.crc32(name.encode()), zlib.crc32(dtype.encode()), seed]), dtype)
    steps = [[codes] for codes in steps]
    results = {runtime: run_steps(runtime, model, steps) for runtime in RUNTIMES}
    described = {runtime: result if isinstance(result, str) else joined(result) for runtime, result in results.items()}
    return {"name": f"{name}/{dtype}/{seed}", "model": model.hex(), "inputs": joined(steps)} | described


def joined(steps):
    return [flat(np.stack(codes)) for codes in zip(*steps, strict=True)]


def record_file(path, seed):
    """Returns a case of a whole network, on uniformly drawn codes."""
    model = Path(path).read_bytes()
    graph = schema.ModelT.InitFromObj(schema.Model.GetRootAs(model, 0)).subgraphs[0]
    types = {number: dtype for number, dtype in DTYPES.values()}
    random, codes = np.random.default_rng(seed), []
    for tensor in (graph.tensors[index] for index in graph.inputs):
        info = np.iinfo(types[tensor.type])
        codes.append(random.integers(info.min, info.max + 1, tensor.shape).astype(info.dtype))
    results = {runtime: run(runtime, model, codes) for runtime in RUNTIMES}
    described = {runtime: result if isinstance(result, str) else [flat(r) for r in result] for runtime, result in results.items()}
    return {"name": f"{Path(path).stem}/{seed}", "model": model.hex(), "inputs": [flat(c) for c in codes]} | described


def flat(codes):
    """Returns codes as integers, and float32 as its bits."""
    codes = np.asarray(codes)
    return (codes.view(np.int32) if codes.dtype == np.float32 else codes).ravel().tolist()


def write(path, cases):
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    Path(path).write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="records what TensorFlow Lite's runtimes compute")
    parser.add_argument("out", nargs="?")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--times", type=int, default=1, help="this many times the usual number of networks")
    parser.add_argument("--per-op", type=int, help="this many networks per operator and type instead")
    parser.add_argument("--golden", action="store_true", help="one small network per operator and type, two runtimes")
    parser.add_argument("--files", nargs="+", help="these networks instead, on random codes")
    parser.add_argument("--only", help="operators whose names begin so")
    arguments = parser.parse_args()
    if arguments.files:
        cases = [record_file(path, arguments.seed + index) for path in arguments.files for index in range(arguments.times)]
        write(arguments.out, cases)
        for case in cases:
            print(case["name"], {r: case[r][-90:] if isinstance(case[r], str) else "runs" for r in RUNTIMES})
        return
    cases, answers = [], collections.defaultdict(lambda: collections.defaultdict(list))
    # Streams are recorded separately from networks with independent samples.
    streams = [] if arguments.golden and not arguments.only else STREAMS
    for recorded, name, make, dtypes, count in [(record, *case) for case in CASES] + [(record_stream, *case) for case in streams]:
        if arguments.only and not name.startswith(arguments.only):
            continue
        for dtype in dtypes:
            for index in range(1 if arguments.golden else arguments.per_op or count * arguments.times):
                case = recorded(name, make, dtype, 1000 * arguments.seed + index)
                for runtime in RUNTIMES:
                    answers[f"{name}/{dtype}"][runtime].append(case[runtime])
                cases.append(case)
    if arguments.golden:
        cases = [{key: case[key] for key in case if key != "xnnpack" and isinstance(case[key], (str, list))} for case in cases]
        cases = [case for case in cases if isinstance(case["litert_ref"], list) or isinstance(case["tflm"], list)]
        cases = [{key: "refused" if key in RUNTIMES and isinstance(value, str) else value for key, value in case.items()} for case in cases]
    if arguments.out:
        write(arguments.out, cases)
    for key, by_runtime in answers.items():
        counts = {runtime: sum(isinstance(a, list) for a in all_) for runtime, all_ in by_runtime.items()}
        errors = {r: next((a for a in all_ if isinstance(a, str)), "")[-100:].replace("\n", " ") for r, all_ in by_runtime.items()}
        print(key, counts, {r: e for r, e in errors.items() if e})
    print(len(cases), "networks")


if __name__ == "__main__":
    main()
