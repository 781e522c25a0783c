"""Dumps the outputs of every operation of a TFLite model as computed by LiteRT's reference kernels.

    python scripts/oracles/litert_dump.py MODEL.tflite INPUTS OUT.npz

INPUTS is an .npz with one array of codes [n, ...] per model input, under the input tensor's name, or an .npy with that
array for a model with one input. OUT.npz gets one array [n, ...] per tensor that an operation produces, under the
tensor's name. If a name occurs again, '#<tensor index>' is appended to later tensors in execution order. Samples are
run one by one, each as [1, ...].
"""

import argparse

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType


def open_model(path):
    interpreter = Interpreter(
        model_path=str(path),
        experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True,
        num_threads=1,
    )
    interpreter.allocate_tensors()
    return interpreter


def op_outputs(interpreter):
    """Returns (key, tensor index) of every operation's outputs, in execution order."""
    tensors = {t["index"]: t for t in interpreter.get_tensor_details()}
    keys, seen = {}, set()
    for op in interpreter._get_ops_details():
        if "delegate" in op["op_name"].lower():
            raise RuntimeError(f"op {op['index']} is the delegate {op['op_name']}: these are not the reference kernels")
        for index in map(int, op["outputs"]):
            if index < 0 or index in seen:
                continue
            seen.add(index)
            name = tensors[index]["name"]
            keys[f"{name}#{index}" if name in keys else name] = index
    return list(keys.items())


def checked_inputs(interpreter, inputs):
    """Returns (tensor index, codes) per model input, and the number of samples."""
    details = interpreter.get_input_details()
    names = [d["name"] for d in details]
    if sorted(names) != sorted(inputs):
        raise ValueError(f"the model's inputs are {names}, the arrays given are {sorted(inputs)}")
    checked = []
    for d in details:
        codes = inputs[d["name"]]
        if codes.dtype != d["dtype"] or codes.shape[1:] != tuple(d["shape"][1:]) or d["shape"][0] != 1:
            expected = f"{np.dtype(d['dtype'])} {d['shape'].tolist()}"
            raise ValueError(f"input {d['name']!r}: model takes {expected}, array is {codes.dtype} {list(codes.shape)}")
        checked.append((d["index"], codes))
    counts = {len(codes) for _, codes in checked}
    if len(counts) != 1 or counts == {0}:
        raise ValueError(f"the inputs need one common, positive number of samples, not {sorted(counts)}")
    return checked, counts.pop()


def dump(model_path, inputs):
    """Runs each sample and returns {tensor name: array [n, ...]} of all operations' outputs."""
    interpreter = open_model(model_path)
    outputs = op_outputs(interpreter)
    checked, count = checked_inputs(interpreter, inputs)
    values = {key: [] for key, _ in outputs}
    for sample in range(count):
        interpreter.reset_all_variables()
        for index, codes in checked:
            interpreter.set_tensor(index, codes[sample : sample + 1])
        interpreter.invoke()
        for key, index in outputs:
            values[key].append(interpreter.get_tensor(index))
    return {key: join(arrays) for key, arrays in values.items()}


def join(arrays):
    """Joins [1, ...] per sample to [n, ...]; arrays of other shapes get a new first axis."""
    first = arrays[0]
    return np.concatenate(arrays) if first.ndim > 0 and first.shape[0] == 1 else np.stack(arrays)


def save(path, arrays, compressed=False):
    """Writes an npz and reads it back to check that keys are unchanged (including '/' and ';')."""
    (np.savez_compressed if compressed else np.savez)(path, **arrays)
    with np.load(path) as stored:
        if set(stored.files) != set(arrays):
            raise RuntimeError(f"keys changed in {path}: {sorted(set(stored.files) ^ set(arrays))}")
        for key, array in arrays.items():
            if stored[key].dtype != array.dtype or not np.array_equal(stored[key], array):
                raise RuntimeError(f"{key!r} changed in {path}")


def load_inputs(path, model_path):
    """Returns {input name: codes} of an .npz, or of an .npy for the only input."""
    stored = np.load(path)
    if isinstance(stored, np.ndarray):
        (detail,) = open_model(model_path).get_input_details()
        return {detail["name"]: stored}
    with stored:
        return {key: stored[key] for key in stored.files}


def main():
    parser = argparse.ArgumentParser(description="dump every op output of a TFLite model, from LiteRT's reference kernels")
    parser.add_argument("model", metavar="MODEL.tflite")
    parser.add_argument("inputs", metavar="INPUTS")
    parser.add_argument("out", metavar="OUT.npz")
    arguments = parser.parse_args()
    save(arguments.out, dump(arguments.model, load_inputs(arguments.inputs, arguments.model)))


if __name__ == "__main__":
    main()
