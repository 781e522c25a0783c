#!/usr/bin/env python3
"""Makes large networks with random weights, to measure how guardbit grows: `make_large.py resnet50|bert FOLDER`.

Writes NAME.onnx (int8, QuantizeLinear and DequantizeLinear around every operation) and NAME_input.npy.

- resnet50: the shapes of ResNet-50 (He et al., 2015), 224x224x3, 25.5 million parameters.
- bert: the encoder of BERT-base (Devlin et al., 2018), 12 layers of 12 heads, 768 channels, one sequence of 128 embedded
  tokens, 85 million parameters.

Needs onnx and NumPy.
"""

import sys
from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

RANDOM = numpy.random.default_rng(1)


class Network:
    """Nodes of a quantized graph; every activation is int8 with one scale."""

    def __init__(self):
        self.nodes, self.constants, self.count = [], [], 0
        self.scale = self.constant(numpy.float32(0.05))
        self.zero = self.constant(numpy.int8(0))

    def constant(self, value):
        name = self.name()
        self.constants.append(numpy_helper.from_array(numpy.asarray(value), name))
        return name

    def name(self):
        self.count += 1
        return f"t{self.count}"

    def node(self, op, inputs, **attributes):
        output = self.name()
        self.nodes.append(helper.make_node(op, inputs, [output], name=f"{op}_{output}", **attributes))
        return output

    def requantized(self, x):
        return self.node("DequantizeLinear", [self.node("QuantizeLinear", [x, self.scale, self.zero]), self.scale, self.zero])

    def weights(self, *shape):
        """Returns dequantized int8 weights whose sums of products keep the size of their inputs."""
        fan_in = int(numpy.prod(shape[1:]) if len(shape) == 4 else shape[0])
        codes = numpy.clip(numpy.rint(RANDOM.normal(0, 30, shape)), -127, 127).astype(numpy.int8)
        scale = self.constant(numpy.float32(1 / 30 / fan_in**0.5))
        return self.node("DequantizeLinear", [self.constant(codes), scale, self.zero])

    def bias(self, channels):
        return self.constant(numpy.zeros(channels, numpy.float32))

    def conv(self, x, inputs, outputs, size, stride=1, relu=True):
        x = self.node(
            "Conv",
            [x, self.weights(outputs, inputs, size, size), self.bias(outputs)],
            kernel_shape=[size, size],
            strides=[stride, stride],
            pads=[size // 2] * 4,
        )
        return self.requantized(self.node("Relu", [x]) if relu else x)

    def dense(self, x, inputs, outputs):
        x = self.node("MatMul", [x, self.weights(inputs, outputs)])
        return self.requantized(self.node("Add", [x, self.bias(outputs)]))

    def save(self, name, shape, output, output_shape, folder):
        graph = helper.make_graph(
            self.nodes,
            name,
            [helper.make_tensor_value_info("input", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, output_shape)],
            self.constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, folder / f"{name}.onnx")
        numpy.save(folder / f"{name}_input.npy", RANDOM.normal(0, 1, shape).astype(numpy.float32))


def resnet50(folder):
    network = Network()
    x = network.conv(network.requantized("input"), 3, 64, 7, 2)
    x = network.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    inputs = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            step = stride if block == 0 else 1
            y = network.conv(x, inputs, width, 1)
            y = network.conv(y, width, width, 3, step)
            y = network.conv(y, width, 4 * width, 1, relu=False)
            if block == 0:
                x = network.conv(x, inputs, 4 * width, 1, step, relu=False)
            x = network.requantized(network.node("Relu", [network.node("Add", [x, y])]))
            inputs = 4 * width
    x = network.requantized(network.node("GlobalAveragePool", [x]))
    x = network.node("Flatten", [x])
    network.save("resnet50", [1, 3, 224, 224], network.dense(x, 2048, 1000), [1, 1000], folder)


def bert(folder, layers=12, heads=12, channels=768, tokens=128):
    network = Network()
    own = channels // heads
    split = network.constant(numpy.array([1, tokens, heads, own]))
    joined = network.constant(numpy.array([1, tokens, channels]))
    ones = network.constant(numpy.ones(channels, numpy.float32))

    def by_head(x, order):
        return network.node("Transpose", [network.node("Reshape", [x, split])], perm=order)

    def normalized(x):
        return network.requantized(network.node("LayerNormalization", [x, ones, network.bias(channels)], axis=-1))

    root, half, one = (network.constant(numpy.float32(value)) for value in (2**0.5, 0.5, 1.0))
    x = network.requantized("input")
    for _ in range(layers):
        q, k, v = (network.dense(x, channels, channels) for _ in range(3))
        scores = network.requantized(network.node("MatMul", [by_head(q, [0, 2, 1, 3]), by_head(k, [0, 2, 3, 1])]))
        scores = network.node("Div", [scores, network.constant(numpy.float32(own**0.5))])
        shares = network.requantized(network.node("Softmax", [network.requantized(scores)], axis=-1))
        y = network.requantized(network.node("MatMul", [shares, by_head(v, [0, 2, 1, 3])]))
        y = network.node("Reshape", [network.node("Transpose", [y], perm=[0, 2, 1, 3]), joined])
        x = normalized(network.node("Add", [x, network.dense(y, channels, channels)]))
        y = network.dense(x, channels, 4 * channels)
        gelu = network.node("Add", [network.node("Erf", [network.node("Div", [y, root])]), one])
        y = network.requantized(network.node("Mul", [network.node("Mul", [y, gelu]), half]))
        x = normalized(network.node("Add", [x, network.dense(y, 4 * channels, channels)]))
    network.save("bert", [1, tokens, channels], x, [1, tokens, channels], folder)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("resnet50", "bert"):
        sys.exit(__doc__)
    {"resnet50": resnet50, "bert": bert}[sys.argv[1]](Path(sys.argv[2]))


if __name__ == "__main__":
    main()
