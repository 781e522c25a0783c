"""Creates frontends/tests/onnx/exported/qkeras: `make_qkeras_networks.py FOLDER`.

Needs (2 GB): pip install qkeras==0.9.0 tensorflow-cpu==2.15.1 tf2onnx==1.16.1 qonnx==0.4.0 pyparsing "numpy<2" protobuf==3.20.3 onnx==1.17.0

Kernels with `alpha=auto` and `auto_po2` are left out: the converter writes them without a quantizer.
"""

import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import onnx
import tensorflow as tf
from qkeras import QActivation, QConv2D, QDense
from qonnx.converters import from_keras
from tensorflow.keras.layers import Add, AveragePooling2D, BatchNormalization, Flatten, Input, MaxPooling2D
from tensorflow.keras.models import Model

KERNELS = {
    "qb4": "quantized_bits(4,0,1,alpha=1)",
    "qb8_int2": "quantized_bits(8,2,1,alpha=1)",
    "qb4_wide": "quantized_bits(4,0,0,alpha=1)",
    "ternary": "ternary(alpha=1,threshold=0.5)",
    "binary": "binary(alpha=1)",
    "unsigned": "quantized_bits(6,1,0,keep_negative=False,alpha=1)",
    "qb2": "quantized_bits(2,0,1,alpha=1)",
    "qb1": "quantized_bits(1,0,1,alpha=1)",
    "qb12": "quantized_bits(12,1,1,alpha=1)",
}
BIASES = {
    "qb4": "quantized_bits(4,0,1,alpha=1)",
    "qb8": "quantized_bits(8,3,1,alpha=1)",
    "qb16": "quantized_bits(16,4,1,alpha=1)",
    "qb20": "quantized_bits(20,4,1,alpha=1)",
    "none": None,
}
ACTIVATIONS = {
    "relu4": "quantized_relu(4)",
    "relu6_2": "quantized_relu(6,2)",
    "qb8": "quantized_bits(8,2,1,alpha=1)",
    "qb4": "quantized_bits(4,1,0,alpha=1)",
    "relu_neg": "quantized_relu(4,0,negative_slope=0.25)",
    "binary": "binary(alpha=1)",
    "ternary": "ternary(alpha=1,threshold=0.5)",
    "qb16": "quantized_bits(16,4,1,alpha=1)",
}


def quantized_input(shape):
    x = Input(shape)
    return x, QActivation("quantized_relu(8)")(x)


def mlp(kernel, bias, activation):
    x_in, x = quantized_input((16,))
    for n in (20, 12):
        x = QDense(n, kernel_quantizer=kernel, bias_quantizer=bias, use_bias=bias is not None)(x)
        x = QActivation(activation)(x)
    return Model(x_in, QDense(5, kernel_quantizer=kernel, bias_quantizer=bias)(x))


def dense(kernel, bias, activation):
    """Returns the network of `mlp`, with the activations as arguments of the layers."""
    of = dict(kernel_quantizer=kernel, bias_quantizer=bias)
    x_in, x = quantized_input((16,))
    for n in (20, 12):
        x = QDense(n, activation=activation, use_bias=bias is not None, **of)(x)
    return Model(x_in, QDense(5, activation="quantized_bits(10,3,1,alpha=1)", **of)(x))


def cnn(kernel, bias, activation):
    of = dict(kernel_quantizer=kernel, bias_quantizer=bias)
    x_in, x = quantized_input((8, 8, 2))
    x = QConv2D(6, (3, 3), padding="same", use_bias=bias is not None, **of)(x)
    x = QActivation(activation)(x)
    x = QConv2D(8, (3, 3), strides=2, activation=activation, use_bias=bias is not None, **of)(x)
    x = Flatten()(MaxPooling2D()(x))
    return Model(x_in, QDense(4, **of)(x))


def residual(kernel, bias, activation):
    of = dict(kernel_quantizer=kernel, bias_quantizer=bias)
    x_in, x = quantized_input((8, 8, 2))
    x = QConv2D(6, (3, 3), kernel_quantizer=kernel, use_bias=False, activation=None)(x)
    x = QActivation(activation)(BatchNormalization()(x))
    y = QConv2D(6, (3, 3), padding="same", activation=activation, **of)(x)
    y = QConv2D(6, (1, 1), padding="same", activation="quantized_bits(8,2,1,alpha=1)", **of)(y)
    x = QActivation(activation)(Add()([x, y]))
    x = QActivation(activation)(AveragePooling2D(2)(x))
    return Model(x_in, QDense(4, activation="quantized_bits(10,5,1,alpha=1)", **of)(Flatten()(x)))


NETWORKS = {"mlp": mlp, "dense": dense, "cnn": cnn, "residual": residual}
OF_IMAGES = [
    ("qb4", "qb4", "relu4"),
    ("qb4", "qb8", "relu6_2"),
    ("qb8_int2", "qb16", "relu4"),
    ("qb8_int2", "qb20", "relu6_2"),
    ("ternary", "qb4", "relu4"),
    ("binary", "qb8", "relu4"),
    ("qb2", "qb4", "relu4"),
]
ROWS = (
    [("mlp", kernel, "qb8", "relu4") for kernel in KERNELS]
    + [("mlp", "qb4", bias, "relu4") for bias in BIASES]
    + [("dense", "qb4", "qb8", activation) for activation in ACTIVATIONS]
    + [("dense", kernel, "qb16", "qb8") for kernel in KERNELS]
    + [("dense", "qb4", bias, "qb8") for bias in BIASES]
    + [(network, *row) for network in ("cnn", "residual") for row in OF_IMAGES]
)


def with_seeded_weights(model):
    rng = np.random.default_rng(2)
    kept = lambda weight: "moving" in weight.name or "gamma" in weight.name
    draw = lambda value: rng.normal(0, 0.5, value.shape).astype(np.float32)
    values = zip(model.weights, model.get_weights())
    model.set_weights([value if kept(weight) else draw(value) for weight, value in values])
    return model


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for network, kernel, bias, activation in dict.fromkeys(ROWS):
    tf.keras.backend.clear_session()
    tf.keras.utils.set_random_seed(1)
    model = with_seeded_weights(NETWORKS[network](KERNELS[kernel], BIASES[bias], ACTIVATIONS[activation]))
    name = f"{network}_{kernel}_{bias}_{activation}"
    made, _ = from_keras(model, name=name, opset=9)
    onnx.save(made, folder / f"{name}.onnx")
