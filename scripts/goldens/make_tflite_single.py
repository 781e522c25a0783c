"""Writes frontends/tests/data/tflite_single.json: results of TensorFlow Lite Micro for networks of one operator when it is
compiled with TFLITE_SINGLE_ROUNDING, which no package is.

    pip install -r scripts/requirements/oracle.txt
    python scripts/oracles/make_tflite_oracle.py CASES.json
    python scripts/goldens/make_tflite_single.py CASES.json --sources DIR [--all OUT.json]

DIR has the sources of tflite-micro, gemmlowp, ruy and flatbuffers (of the version that tflite-micro's
schema_generated.h names) in folders of these names; g++ compiles them there in a few minutes. Records the networks of
CASES whose results differ from the usual build, and the first one of every other operator and type. --all writes every
network instead, for GUARDBIT_TFLITE_CASES.
"""

import argparse
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "oracles"))

from make_tflite_oracle import flat, write  # noqa: E402
from tflite_models import DTYPES, schema  # noqa: E402

GOLDEN = HERE.parents[1] / "frontends/tests/data/tflite_single.json"
# Registrations without a kernel of a builtin operator, or with dependencies beyond the kernels.
LEFT_OUT = {"AddBuiltin", "AddCallOnce"}
FOLDERS = ["micro", "micro/kernels", "micro/arena_allocator", "micro/memory_planner", "micro/tflite_bridge", "kernels",
           "kernels/internal", "kernels/internal/reference", "core/api", "core/c"]
NOT_KERNELS = re.compile(r"test|mock_|fake_|ethosu|detection_postprocess|flexbuffers|recording_|hexdump|decode|kernel_runner")


def compile_runner(sources):
    """Compiles the program that runs a network, in `sources`/single."""
    build = sources / "single"
    build.mkdir(exist_ok=True)
    runner = build / "runner"
    if runner.exists():
        return runner
    micro = sources / "tflite-micro"
    header = (micro / "tensorflow/lite/micro/micro_mutable_op_resolver.h").read_text()
    methods = re.findall(r"TfLiteStatus (Add\w+)\((?:.*?)\)\s*\{(.*?)\n  \}", header, re.DOTALL)
    names = [name for name, body in methods if name not in LEFT_OUT and "AddBuiltin(" in body]
    calls = "".join(f"  resolver.{name}();\n" for name in names)
    (build / "resolver.h").write_text(
        '#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"\n'
        f"using Resolver = tflite::MicroMutableOpResolver<200>;\ninline void add_all(Resolver& resolver) {{\n{calls}}}\n"
    )
    folders = [micro / "tensorflow/lite" / folder for folder in FOLDERS]
    folders += [micro / "tensorflow/compiler/mlir/lite" / folder for folder in ("schema", "core/api")]
    files = [file for folder in folders for file in sorted(folder.glob("*.cc")) if not NOT_KERNELS.search(file.name)]
    flags = ["-std=c++17", "-O1", "-w", "-fno-exceptions", "-DTF_LITE_STATIC_MEMORY", "-DTFLITE_SINGLE_ROUNDING=1", f"-I{build}"]
    flags += [f"-I{sources / folder}" for folder in ("tflite-micro", "gemmlowp", "ruy", "flatbuffers/include")]

    def compiled(file):
        target = build / (str(file.relative_to(file.anchor)).replace("/", "_") + ".o")
        if not target.exists():
            subprocess.run(["g++", *flags, "-c", file, "-o", target], check=True)
        return target

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compiled, [*files, HERE / "tflm_runner.cc"]))
    subprocess.run(["g++", *objects, "-o", runner], check=True)
    return runner


def run(runner, case):
    """Returns the outputs of a case, flat, or the reason why there are none."""
    folder = runner.parent / "io"
    folder.mkdir(exist_ok=True)
    model = bytes.fromhex(case["model"])
    (folder / "model").write_bytes(model)
    graph = schema.ModelT.InitFromObj(schema.Model.GetRootAs(model, 0)).subgraphs[0]
    types = {number: dtype for number, dtype in DTYPES.values()}
    paths = []
    for place, (index, codes) in enumerate(zip(graph.inputs, case["inputs"], strict=True)):
        dtype = types[graph.tensors[index].type]
        words = np.asarray(codes, np.int64)
        words = words.astype(np.int32).view(np.float32) if dtype == np.float32 else words.astype(dtype)
        paths.append(folder / f"in{place}")
        words.tofile(paths[-1])
    line = f"{folder / 'model'} {' '.join(map(str, paths))} -> {folder / 'out'}\n"
    ran = subprocess.run([runner], input=line, capture_output=True, text=True, check=False)
    if ran.stdout.strip().splitlines()[-1:] != ["ok"]:
        return "refused"
    return [flat(np.fromfile(folder / f"out.{place}", types[graph.tensors[index].type])) for place, index in enumerate(graph.outputs)]


def main():
    parser = argparse.ArgumentParser(description="records what a runtime that rounds once computes")
    parser.add_argument("cases", type=Path)
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--all", type=Path)
    arguments = parser.parse_args()
    runner = compile_runner(arguments.sources.resolve())
    kept, seen, ran = [], set(), []
    for case in json.loads(arguments.cases.read_text()):
        if case["name"].startswith("stream_"):
            continue  # the runner takes one step
        case["tflm_single"] = run(runner, case)
        if case["tflm_single"] == "refused":
            continue
        ran.append(case)
        kind = case["name"].rsplit("/", 1)[0]
        if kind not in seen or (isinstance(case["tflm"], list) and case["tflm"] != case["tflm_single"]):
            kept.append({key: case[key] for key in ("name", "model", "inputs", "tflm_single")})
        seen.add(kind)
    write(arguments.all or GOLDEN, ran if arguments.all else kept)
    print(len(ran), "networks run,", len(kept), "recorded")


if __name__ == "__main__":
    main()
