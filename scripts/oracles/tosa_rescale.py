"""Prints RESCALE results of the TOSA reference model for its own conformance tests, one line of JSON each.

    python scripts/oracles/tosa_rescale.py [FOLDER]

Needs the packages of scripts/requirements/tosa.txt, which include programs. The tests are generated into FOLDER [default: a
temporary folder], run by `tosa_reference_model`, and printed with their inputs and results: at most VALUES of each,
evenly spread, with the multiplier and shift of each value's channel.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
from importlib import metadata

import numpy as np

VALUES = 400
BIN = pathlib.Path(sys.executable).parent
# The program itself: the one in `BIN` starts a Python for it, which takes many times as long as a test.
MODEL = metadata.distribution("tosa-tools").locate_file("bin/tosa_reference_model")
NAME = re.compile(r"_i(\d+)_outi(\d+)_sc([01])_rm([SD])_pc([01])_iu([01])_ou([01])")


def library():
    import tosa_reference_model

    folder = pathlib.Path(tosa_reference_model.__file__).parent
    return next(folder.glob("libtosa_reference_generate_lib*"))


def generate(folder):
    run(
        BIN / "tosa_verif_build_tests", "-o", folder, "--filter", "rescale", "--seed", "42", "--test-type", "positive",
        "--profile", "tosa-pro-int", "--extension", "tosa-ext-doubleround", "tosa-ext-int16",
        "--generate-lib-path", library(),
    )  # fmt: skip


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def unsigned(values, bits):
    """Converts integers of that width to the unsigned numbers with equal bits."""
    return [int(v) & ((1 << bits) - 1) for v in values]


def case(folder):
    in_bits, out_bits, scale32, rounding, _, in_unsigned, out_unsigned = NAME.search(folder.name).groups()
    test = json.loads((folder / "desc.json").read_text())
    run(MODEL, "--test_desc", folder / "desc.json")
    x = np.load(folder / test["ifm_file"][0])
    y = np.load(folder / test["ofm_file"][0])
    constants = test["meta"]["data_gen"]["tensors"]
    multipliers, shifts, in_zero, out_zero = (
        [int(v) for v in constants[f"const-{index}"]["fixed_data_info"]["data"]] for index in range(4)
    )
    channels = np.arange(x.size) % (x.shape[-1] if len(multipliers) > 1 else 1)
    picked = np.unique(np.linspace(0, x.size - 1, min(VALUES, x.size)).astype(int))

    def numbers(values, bits, is_unsigned):
        values = [int(v) for v in values]
        return unsigned(values, int(bits)) if is_unsigned == "1" else values

    return {
        "name": folder.name,
        "scale32": scale32 == "1",
        "double_round": rounding == "D",
        "out_bits": int(out_bits),
        "out_unsigned": out_unsigned == "1",
        "in_zero": numbers(in_zero, in_bits, in_unsigned)[0],
        "out_zero": numbers(out_zero, out_bits, out_unsigned)[0],
        "multiplier": [multipliers[channels[at]] for at in picked],
        "shift": [shifts[channels[at]] for at in picked],
        "x": numbers(x.ravel()[picked], in_bits, in_unsigned),
        "y": numbers(y.ravel()[picked], out_bits, out_unsigned),
    }


def main(folder):
    generate(folder)
    for test in sorted(folder.rglob("desc.json")):
        if NAME.search(test.parent.name):
            print(json.dumps(case(test.parent)))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(pathlib.Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(pathlib.Path(made))
