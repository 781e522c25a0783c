"""Trains, quantizes and exports the handwritten-digits example, all next to this script.

    pip install -r requirements.txt
    python train.py

The network reads pixel / 16, which are real values in [0, 1], as NHWC.
Writes digits_int8.tflite, digits_float.onnx, test_images.npy (int8 codes), test_images_float.npy and calibration.npy
(float32 real values), and test_labels.npy. The README states what is reproducible.
"""

import os
from pathlib import Path

# One thread and no oneDNN: the order of float additions then depends neither on the core count nor on oneDNN's choices.
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import numpy as np
import onnx
import onnxruntime
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

SEED = 14
TEST_IMAGES = 540
CALIBRATION_IMAGES = 64
EPOCHS = 120
HERE = Path(__file__).resolve().parent


def load_split():
    """Train and test images in [0, 1], shape [n, 8, 8, 1], with labels; the split is stratified by digit."""
    digits = load_digits()
    images = (digits.images / 16.0).astype(np.float32)[..., np.newaxis]
    labels = digits.target.astype(np.uint8)
    return train_test_split(images, labels, test_size=TEST_IMAGES, stratify=labels, random_state=SEED)


def build_network():
    """35,712 multiplications per image; the output is logits (the largest one is the digit)."""
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Input((8, 8, 1), batch_size=1, name="image"),
            layers.Conv2D(16, 3, padding="same", activation="relu", name="conv"),
            layers.DepthwiseConv2D(3, padding="valid", activation="relu", name="depthwise"),
            layers.Conv2D(32, 1, activation="relu", name="pointwise"),
            layers.AveragePooling2D(2, name="pool"),
            layers.Flatten(name="flatten"),
            layers.Dropout(0.3, seed=SEED, name="dropout"),
            layers.Dense(10, name="dense"),
        ],
        name="digits",
    )


def train(images, labels):
    """Fits a copy with a free batch size, then moves the weights to the network with batch size 1."""
    network = build_network()
    config = network.get_config()
    config["layers"][0]["config"]["batch_shape"] = (None, 8, 8, 1)
    trainee = tf.keras.Sequential.from_config(config)
    steps = EPOCHS * -(-len(images) // 32)
    trainee.compile(
        optimizer=tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(3e-3, steps)),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    trainee.fit(images, labels, batch_size=32, epochs=EPOCHS, verbose=0)
    network.set_weights(trainee.get_weights())
    return network


def predict_keras(network, images):
    return np.concatenate([network(image[np.newaxis], training=False).numpy() for image in images])


def to_tflite(network, images):
    """Full int8: per-channel weights, int8 input and output, ranges from the given training images."""
    converter = tf.lite.TFLiteConverter.from_keras_model(network)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([image[np.newaxis]] for image in images)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = tf.int8
    converter.inference_output_type = tf.int8
    return converter.convert()


def to_onnx(network):
    """The float network in plain ONNX operators.

    Input and output are those of the Keras network (NHWC); one Transpose enters NCHW, one leaves it before Flatten,
    so that the dense layer sums in the same order as in the TFLite model.
    """
    weights = {layer.name: [w.numpy() for w in layer.weights] for layer in network.layers}
    initializers, nodes = [], []

    def constant(name, array):
        initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(op, inputs, output, **attributes):
        nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def conv(name, x, kernel, pads, group=1):
        w = constant(f"{name}/weight", kernel)
        b = constant(f"{name}/bias", weights[name][1])
        shape = list(kernel.shape[2:])
        y = node("Conv", [x, w, b], name, kernel_shape=shape, pads=pads, strides=[1, 1], group=group)
        return node("Relu", [y], f"{name}/relu")

    hwio_to_oihw = (3, 2, 0, 1)
    hwcm_to_chw = (2, 3, 0, 1)
    x = node("Transpose", ["image"], "to_nchw", perm=[0, 3, 1, 2])
    x = conv("conv", x, weights["conv"][0].transpose(hwio_to_oihw), [1, 1, 1, 1])
    x = conv("depthwise", x, weights["depthwise"][0].transpose(hwcm_to_chw), [0, 0, 0, 0], group=16)
    x = conv("pointwise", x, weights["pointwise"][0].transpose(hwio_to_oihw), [0, 0, 0, 0])
    x = node("AveragePool", [x], "pool", kernel_shape=[2, 2], strides=[2, 2])
    x = node("Transpose", [x], "to_nhwc", perm=[0, 2, 3, 1])
    x = node("Flatten", [x], "flatten", axis=1)
    dense = [constant("dense/weight", weights["dense"][0].T), constant("dense/bias", weights["dense"][1])]
    node("Gemm", [x, *dense], "logits", transB=1)

    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 8, 8, 1])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 10])],
        initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    model.producer_name = "guardbit-example"
    model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString(deterministic=True)


def predict_onnx(content, images):
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(["logits"], {"image": image[np.newaxis]})[0] for image in images])


def reference_interpreter(content):
    interpreter = Interpreter(model_content=content, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    return interpreter


def quantize_input(interpreter, images):
    """Codes by TFLite's rule: float32 division, round half away from zero, then the zero point."""
    scale, zero_point = interpreter.get_input_details()[0]["quantization"]
    real = images / np.float32(scale)
    rounded = np.copysign(np.floor(np.abs(real) + np.float32(0.5)), real)
    return np.clip(rounded + zero_point, -128, 127).astype(np.int8)


def predict_tflite(interpreter, codes):
    source = interpreter.get_input_details()[0]["index"]
    target = interpreter.get_output_details()[0]["index"]
    outputs = []
    for code in codes:
        interpreter.set_tensor(source, code[np.newaxis])
        interpreter.invoke()
        outputs.append(interpreter.get_tensor(target))
    return np.concatenate(outputs)


def accuracy(outputs, labels):
    return float(np.mean(np.argmax(outputs, axis=1) == labels))


def print_layers(interpreter):
    """Products per dot product (K) and multiplications per image, padding included, and the bits that any data fit."""
    tensors = {t["index"]: t for t in interpreter.get_tensor_details()}
    total = 0
    print(f"{'op':<20}{'output':<18}{'K':>5}{'MACs':>8}{'bits by type':>14}")
    for op in interpreter._get_ops_details():
        output = tensors[op["outputs"][0]]["shape"]
        if op["op_name"] in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"):
            weight = tensors[op["inputs"][1]]["shape"]
            channels = weight[-1] if op["op_name"] == "DEPTHWISE_CONV_2D" else weight[0]
            k = int(np.prod(weight)) // int(channels)
            macs = int(np.prod(output)) * k
            total += macs
            bits = (k * 255 * 127).bit_length() + 1  # |x - zero point| <= 255, |w| <= 127
            columns = f"{k:>5}{macs:>8}{bits:>14}"
        else:
            columns = ""
        print(f"{op['op_name']:<20}{'x'.join(map(str, output)):<18}{columns}")
    print(f"{'total':<43}{total:>8}")


def main():
    tf.keras.utils.set_random_seed(SEED)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.config.experimental.enable_op_determinism()

    train_images, test_images, train_labels, test_labels = load_split()
    network = train(train_images, train_labels)
    float_logits = predict_keras(network, test_images)

    tflite = to_tflite(network, train_images)
    interpreter = reference_interpreter(tflite)
    codes = quantize_input(interpreter, test_images)
    int8_logits = predict_tflite(interpreter, codes)

    onnx_model = to_onnx(network)
    onnx_difference = np.max(np.abs(predict_onnx(onnx_model, test_images) - float_logits))

    print_layers(interpreter)
    print(f"train {len(train_images)} images, test {len(test_images)} images")
    print(f"train accuracy, float:             {accuracy(predict_keras(network, train_images), train_labels):.4f}")
    print(f"test accuracy, float (Keras):      {accuracy(float_logits, test_labels):.4f}")
    print(f"test accuracy, int8 (LiteRT ref.): {accuracy(int8_logits, test_labels):.4f}")
    print(f"ONNX against Keras, max abs diff:  {onnx_difference:.3g}")
    if accuracy(int8_logits, test_labels) < 0.95 or onnx_difference > 1e-4:
        raise SystemExit("not good enough to be committed; nothing was written")

    (HERE / "digits_int8.tflite").write_bytes(tflite)
    (HERE / "digits_float.onnx").write_bytes(onnx_model)
    np.save(HERE / "test_images.npy", codes)
    np.save(HERE / "test_images_float.npy", test_images)
    np.save(HERE / "test_labels.npy", test_labels)
    np.save(HERE / "calibration.npy", train_images[:CALIBRATION_IMAGES])
    for name in ["digits_int8.tflite", "digits_float.onnx", "test_images.npy", "test_images_float.npy", "test_labels.npy", "calibration.npy"]:
        print(f"{name:<20}{(HERE / name).stat().st_size:>8} bytes")


if __name__ == "__main__":
    main()
