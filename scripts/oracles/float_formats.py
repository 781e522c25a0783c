"""Prints values, ties and overflows of floating-point formats by ml_dtypes and NumPy, one line of JSON per format.

    python scripts/oracles/float_formats.py

`values` has the value of each code, in order, and `codes` the code of each of `inputs`, to nearest even. Numbers are
bits of a float32, which holds all of them. Inputs are the values, the means of neighbors with the next float32 on each
side, the same beyond the largest value, infinities and NaN.
"""

import json

import ml_dtypes
import numpy as np

FORMATS = {
    "e4m3fn": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
    "ue8m0": ml_dtypes.float8_e8m0fnu,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
}


def bits(numbers):
    return numbers.astype(np.float32).view(np.uint32).tolist()


def main():
    for name, dtype in FORMATS.items():
        storage = np.uint16 if np.dtype(dtype).itemsize == 2 else np.uint8
        width = {"e3m2": 6, "e2m3": 6, "e2m1": 4}.get(name, 8 * np.dtype(dtype).itemsize)
        values = np.arange(2**width, dtype=storage).view(dtype).astype(np.float32)
        finite = np.unique(np.abs(values[np.isfinite(values)])).astype(np.float64)
        # One step beyond the largest value is a tie with it; far beyond are more.
        beyond = finite[-1] + (finite[-1] - finite[-2]) * np.array([1.0, 2.0, 3.0])
        ladder = np.concatenate([finite, beyond[beyond < 3.4e38]])
        means = ((ladder[1:] + ladder[:-1]) / 2).astype(np.float32)
        tiny = (np.array([0.25, 0.5, 0.75]) * finite[finite > 0][0]).astype(np.float32)
        far = np.array([np.finfo(np.float32).max, np.inf], np.float32)
        inputs = np.concatenate([ladder.astype(np.float32), means, tiny, far])
        with np.errstate(all="ignore"):
            beside = [np.nextafter(inputs, np.float32(end)) for end in (0, np.inf)]
            inputs = np.concatenate([inputs, *beside])
            inputs = np.concatenate([inputs, -inputs, [np.float32(np.nan)]]).astype(np.float32)
            if name == "ue8m0":
                # ml_dtypes rounds subnormals of float32 up, also those that are nearer to the code below.
                inputs = inputs[(np.abs(inputs) >= np.finfo(np.float32).tiny) | np.isin(inputs, values) | np.isnan(inputs)]
            codes = inputs.astype(dtype).view(storage)
        print(json.dumps({"format": name, "values": bits(values), "inputs": bits(inputs), "codes": codes.tolist()}))


if __name__ == "__main__":
    main()
