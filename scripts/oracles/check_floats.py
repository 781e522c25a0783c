"""Compares the floating-point codes of a network in guardbit with ONNX Runtime's.

    python scripts/oracles/check_floats.py MODEL.onnx INPUT.npy TENSORS.npz

TENSORS.npz is written by `guardbit run MODEL.onnx --input INPUT.npy --dump-tensors`, for the first samples or all. Each
tensor of the file that QuantizeLinear or Cast converts to floating-point codes is an output of ONNX Runtime, whose
optimizations are disabled: they build integer kernels for float8 codes, which ONNX Runtime then refuses. Images may have
their axes in another order. Sums of float32 depend on the order of additions, so a code may be the next one where its
real value is nearly halfway: less than one code in a thousand may differ. Exit code 1 if more do, or if nothing was
compared.
"""

import sys

import ml_dtypes
import numpy as np
import onnx
import onnxruntime

DTYPES = {
    onnx.TensorProto.FLOAT16: np.float16,
    onnx.TensorProto.BFLOAT16: ml_dtypes.bfloat16,
    onnx.TensorProto.FLOAT8E4M3FN: ml_dtypes.float8_e4m3fn,
    onnx.TensorProto.FLOAT8E5M2: ml_dtypes.float8_e5m2,
}


def main():
    model, samples, tensors = onnx.load(sys.argv[1]), np.load(sys.argv[2]), np.load(sys.argv[3])
    types = {value.name: value.type.tensor_type.elem_type for value in model.graph.value_info}
    names = [node.output[0] for node in model.graph.node if types.get(node.output[0]) in DTYPES]
    for name in names:
        # Python bindings have no arrays of float8, so the codes are read as float32, which holds each exactly.
        model.graph.node.append(onnx.helper.make_node("Cast", [name], [name + "/real"], to=onnx.TensorProto.FLOAT))
        model.graph.output.append(onnx.helper.make_tensor_value_info(name + "/real", onnx.TensorProto.FLOAT, None))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    read = session.get_inputs()[0].name
    compared = different = 0
    for name in names:
        own = tensors[f"exact/{name}"]
        made = np.concatenate([session.run([name + "/real"], {read: image[np.newaxis]})[0] for image in samples[: len(own)]])
        dtype = np.dtype(DTYPES[types[name]])
        # Values that are only rounded to bfloat16 are dumped as real values.
        real = own if own.dtype == np.float32 else own.astype(f"u{dtype.itemsize}").view(dtype).astype(np.float32)
        if made.ndim == 4 and made.shape != real.shape:
            real = real.transpose(0, 3, 1, 2)
        wrong = int((made.reshape(real.shape) != real).sum())
        print(f"{name}: {real.size} codes, {wrong} different")
        compared, different = compared + real.size, different + wrong
    print(f"{compared} codes, {different} different")
    sys.exit(compared == 0 or different * 1000 > compared)


main()
