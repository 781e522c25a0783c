"""Writes examples/digits/golden/litert_ref.npz: results of LiteRT's reference kernels for the digits network.

    pip install -r scripts/requirements/oracle.txt
    python scripts/goldens/make_digits_golden.py

'inputs' holds 12 inputs (the first 6 test images, then 6 random ones), 'tensor/<name>' every operation's outputs for them.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "oracles"))

import litert_dump  # noqa: E402

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"


def main():
    model = DIGITS / "digits_int8.tflite"
    images = np.load(DIGITS / "test_images.npy")[:6]
    random = np.random.default_rng(7).integers(-128, 128, size=images.shape, dtype=np.int8)
    inputs = np.concatenate([images, random])
    name = litert_dump.open_model(model).get_input_details()[0]["name"]
    tensors = litert_dump.dump(model, {name: inputs})
    golden = {"inputs": inputs} | {f"tensor/{key}": array for key, array in tensors.items()}
    path = DIGITS / "golden" / "litert_ref.npz"
    path.parent.mkdir(exist_ok=True)
    litert_dump.save(path, golden, compressed=True)
    for key, array in golden.items():
        print(f"{array.dtype} {list(array.shape)} {key}")
    print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
