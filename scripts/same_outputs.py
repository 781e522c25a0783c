#!/usr/bin/env python3
"""Compare the results of two builds of guardbit on a fixed list of commands.

    scripts/same_outputs.py OLD NEW [--models DIR] [--only TEXT]

OLD and NEW are two `guardbit` binaries. Each command runs with both, and its exit code and every file are compared.
Tables are compared column by column, JSON without the parts in `NOT_COMPARED`, and reports only by existence. Standard
output is compared if it is JSON or an accelerator, and standard error if a command fails. All other files, such as
arrays, images, test vectors and networks, must be byte-equal. Exit code 1 if anything differs.

`--models` is a folder with the real networks of MLPerf Tiny [default: ../shared/models]; without it their commands are left out.
`--only` runs the commands that contain a text.
"""

import argparse
import csv
import json
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIGITS = "examples/digits/digits_int8.tflite --input examples/digits/test_images.npy"
LABELS = "--labels examples/digits/test_labels.npy"
RESNET = "{models}/resnet8_cifar10_int8.tflite --input {models}/resnet8_cifar10_images.npy"
WORDS = "{models}/kws_dscnn_int8.tflite --random 2"
FLOAT = "examples/digits/digits_float.onnx --calibration examples/digits/calibration.npy"
NARROW = "--set accumulation.acc.bits=12"

# `{out}` is the command's own folder; `&&` runs a second command on its results.
COMMANDS = [
    f"run {DIGITS} {LABELS} --hw fpga-int14-os -o {{out}}/r",
    f"run {DIGITS} {LABELS} --hw fpga-int14-os-wrap --samples 40 --dump-tensors --histograms --dump-sums 0,1 -o {{out}}/r",
    f"run {DIGITS} --hw fpga-int14-ws --samples 40 --seed 3 --mode isolated --stats full -o {{out}}/r",
    f"run {DIGITS} --hw fpga-int14-tree --samples 20 --cost aladdin-40nm --cost horowitz-45nm -o {{out}}/r",
    f"run {DIGITS} --hw exact-int32-os --samples 20 --profile tflm --format parquet -o {{out}}/r",
    f"run {DIGITS} --hw fpga-int14-os --samples 20 --layer 0 --json -o {{out}}/r",
    f"run {DIGITS} --hw fpga-int14-os --samples 20 --requantize even {NARROW} -o {{out}}/r",
    f"run {DIGITS} --hw gemmini-16 --samples 20 --stats none -o {{out}}/r",
    f"run {DIGITS} --hw dsp48e2-int8x2 --samples 4 -o {{out}}/r",
    f"run {DIGITS} --hw ethos-u55-256 --samples 20 -o {{out}}/r",
    f"run {DIGITS} --hw tpu-v1 --samples 20 --set accumulation.acc.overflow=trap -o {{out}}/r",
    "run examples/attention/transformer_uint8.onnx --dim tokens=16 --random 2 --hw fpga-int14-os -o {out}/r",
    f"run {RESNET} --hw fpga-int14-os --samples 3 -o {{out}}/r",
    f"run {RESNET} --hw fpga-int14-os --samples 3 --threads 1 {NARROW} --mode isolated -o {{out}}/r",
    f"run {WORDS} --hw fpga-int14-os -o {{out}}/r",
    "run {models}/vww_mobilenet_v1_025_int8.tflite --input {models}/vww_images.npy --labels {models}/vww_labels.npy "
    "--hw eyeriss-v1 --samples 2 -o {out}/r",
    "run {models}/anomaly_autoencoder_int8.tflite --input {models}/anomaly_windows.npy --hw nvdla-small --samples 4 -o {out}/r",
    "sweep examples/digits/study.yaml -o {out}/s",
    f"sweep {DIGITS} {LABELS} --hw fpga-int14-os --samples 60 --bits 10..=16 --overflow wrap,saturate -o {{out}}/s",
    f"sweep {DIGITS} --hw fpga-int14-ws --samples 20 --level chain --bits 9,11 --axis array.rows=8,16 "
    "--axis mode=propagated,isolated --where 'mode == isolated or array.rows == 8' --format parquet -o {out}/s",
    f"sweep {DIGITS} --hw fpga-int14-os --samples 20 --bits 10..=13 --shard 1/2 -o {{out}}/a && "
    f"sweep {DIGITS} --hw fpga-int14-os --samples 20 --bits 10..=13 --shard 2/2 -o {{out}}/b && "
    "merge {out}/a {out}/b -o {out}/m && status {out}/a {out}/b --json",
    "sweep examples/studies/bits_per_layer.yaml -o {out}/s",
    "sweep examples/studies/adc.yaml -o {out}/s",
    "sweep examples/studies/seeds.yaml -o {out}/s",
    f"size {DIGITS} {LABELS} --hw fpga-int14-os --samples 60 --budget mismatch=1% -o {{out}}/s",
    f"size {DIGITS} --hw fpga-int14-ws --samples 40 --grid coarse -o {{out}}/s",
    f"explore {DIGITS} {LABELS} --hw fpga-int14-os --samples 40 --axis array.rows=8,16 --axis accumulation.acc.bits=12,14,18 "
    "-o {out}/e",
    f"explore {DIGITS} {LABELS} --hw fpga-int14-ws --samples 40 --axis array.cols=8,16 --budget accuracy=2% "
    "--objective area,cycles --cost yosys-osu018 -o {out}/e",
    f"quantize {FLOAT} -o {{out}}/q.onnx --report {{out}}/q",
    f"quantize {FLOAT} --method mse --weights int4 --per-channel --correct-bias -o {{out}}/q.onnx",
    f"quantize {FLOAT} --method guaranteed --hw fpga-int14-os -o {{out}}/q.onnx --report {{out}}/q",
    f"quantize {FLOAT} --method overflow-aware --hw fpga-int14-os {NARROW} -o {{out}}/q.onnx",
    f"vectors {DIGITS} --hw fpga-int14-os --samples 2 --layer 1 --cases 30 -o {{out}}/b && check {{out}}/b --simulator none --json",
    f"vectors {DIGITS} --hw fpga-int14-tree --samples 2 --layer 0 --cases 20 --waves vcd --byte-slots -o {{out}}/b",
    f"vectors {DIGITS} --hw fpga-int14-ws --samples 2 --layer 2 --cases 20 --formats dec,npy,bin,mif,coe,axis -o {{out}}/b",
    f"run {DIGITS} --hw fpga-int14-os --samples 20 -o {{out}}/a && run {DIGITS} --hw fpga-int14-ws --samples 20 -o {{out}}/b && "
    "compare {out}/a {out}/b --json",
    "inspect examples/digits/digits_int8.tflite --hw fpga-int14-ws --nodes --json",
    f"quantize {FLOAT} -o {{out}}/q.onnx && inspect {{out}}/q.onnx --export {{out}}/written.onnx",
    "hw check gemmini-16 --model examples/digits/digits_int8.tflite --json",
    "hw show fpga-int14-os --set array.rows=8",
]

# Settings listed in manifests, hashes of files whose wording may change, and names of the build.
NOT_COMPARED = {"settings", "files", "sha256", "tool"}
WORDING = {".html", ".txt", ".md"}


def run(binary, command, out):
    """Returns the exit codes of the command's parts and their JSON output, if any."""
    codes, printed = [], []
    for part in command.split(" && "):
        arguments = shlex.split(part)
        ended = subprocess.run(
            [str(binary), *arguments], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        codes.append(ended.returncode)
        if "--json" in arguments or arguments[0] == "hw":
            printed.append(ended.stdout.replace(str(out), "OUT"))
        if ended.returncode:
            printed.append(ended.stderr.replace(str(out), "OUT"))
    return codes, printed


def without(value):
    """Returns a JSON value without the parts that may change."""
    if isinstance(value, dict):
        return {key: without(inner) for key, inner in value.items() if key not in NOT_COMPARED}
    return [without(inner) for inner in value] if isinstance(value, list) else value


def same_json(old, new):
    old, new = without(json.loads(old)), without(json.loads(new))
    if old == new:
        return []
    if isinstance(old, dict) and isinstance(new, dict):
        absent = object()
        keys = [key for key in {**old, **new} if old.get(key, absent) != new.get(key, absent)]
        return [f"{key}: {str(old.get(key))[:80]} is now {str(new.get(key))[:80]}" for key in keys]
    return ["differs"]


def same_table(old, new):
    old, new = (list(csv.reader(text.splitlines())) for text in (old, new))
    if len(old) != len(new):
        return [f"{len(old)} lines are now {len(new)}"]
    if not old:
        return []
    both = [name for name in old[0] if name in new[0]]
    found = [f"column {name} is gone" for name in old[0] if name not in new[0]]
    found += [f"column {name} is new" for name in new[0] if name not in old[0]]
    for name in both:
        at, to = old[0].index(name), new[0].index(name)
        lines = [i for i, (a, b) in enumerate(zip(old, new)) if a[at] != b[to]]
        if lines:
            line = lines[0]
            found.append(f"{name}: {len(lines)} lines, first {line}: {old[line][at][:40]} is now {new[line][to][:40]}")
    return found


def same_file(old, new):
    if old.read_bytes() == new.read_bytes():
        return []
    if old.suffix == ".csv":
        return same_table(old.read_text(), new.read_text())
    if old.suffix == ".json":
        return same_json(old.read_text(), new.read_text())
    return [] if old.suffix in WORDING else ["differs"]


def differences(old_binary, new_binary, command, models):
    with tempfile.TemporaryDirectory() as scratch:
        outs = [Path(scratch, name) for name in ("old", "new")]
        ended = []
        for binary, out in zip((old_binary, new_binary), outs):
            out.mkdir()
            ended.append(run(binary, command.replace("{out}", str(out)).replace("{models}", str(models)), out))
        (old_codes, old_printed), (new_codes, new_printed) = ended
        found = [f"exit codes {old_codes} are now {new_codes}"] if old_codes != new_codes else []
        if any(old_codes):
            found += [f"fails: {text.strip()[:200]}" for text in old_printed[-1:]]
        elif len(old_printed) == len(new_printed):
            for old, new in zip(old_printed, new_printed):
                lines = same_json(old, new) if "--json" in command else ["differs"] * (old != new)
                found += [f"stdout: {line}" for line in lines]
        names = [{str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()} for out in outs]
        found += [f"{name} is gone" for name in sorted(names[0] - names[1])]
        found += [f"{name} is new" for name in sorted(names[1] - names[0])]
        for name in sorted(names[0] & names[1]):
            found += [f"{name}: {line}" for line in same_file(outs[0] / name, outs[1] / name)]
        return len(names[0]), found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--models", type=Path, default=ROOT / "../shared/models")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    wanted = [command for command in COMMANDS if args.only in command]
    if not args.models.is_dir():
        print(f"no folder {args.models}: commands on its networks are left out")
        wanted = [command for command in wanted if "{models}" not in command]
    binaries = [args.old.resolve(), args.new.resolve()]
    with ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda command: differences(*binaries, command, args.models.resolve()), wanted)
        files = different = 0
        for command, (count, found) in zip(wanted, results):
            files += count
            different += bool(found)
            if found:
                print(command)
                print("\n".join(f"    {line}" for line in found))
    print(f"{len(wanted)} commands, {files} files: {different} commands differ")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
