"""Compares the parameters of two QDQ networks made from one float network: `check_parameters.py OWN.onnx PEER.onnx`.

Needs scripts/requirements/onnx.txt. For every layer of PEER, OWN must have equal codes of weights and biases, and equal
zero points and scales of its input and output activations. Scales may differ in the last bits of float32, as float sums
of a runtime do. A layer is identified by its output tensor of codes, whose name guardbit keeps up to the first colon.
Prints the differences, then a JSON object with the numbers of layers and codes compared and the largest relative
difference of a scale.
"""

import json
import sys

import numpy as np
import onnx
from onnx import numpy_helper

LAYERS = {"Conv", "Gemm", "MatMul"}
MOST = 1e-6


class Network:
    def __init__(self, path):
        graph = onnx.load(path).graph
        self.nodes = graph.node
        self.constants = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
        self.maker = {name: node for node in graph.node for name in node.output}

    def reader(self, name):
        """Returns the only node that reads a tensor."""
        found = [node for node in self.nodes if name in node.input]
        return found[0] if len(found) == 1 else None

    def codes(self, name):
        """Returns scale, zero point and, if constant, the codes of a dequantized value."""
        node = self.maker[name]
        assert node.op_type == "DequantizeLinear", name
        scale, zero_point = (self.constants[i] for i in node.input[1:3])
        return scale, zero_point, self.constants.get(node.input[0])

    def layers(self):
        """Returns layers by output name: scale, zero point and codes of input, weights, bias and output."""
        for node in self.nodes:
            if node.op_type not in LAYERS:
                continue
            made = node.output[0]
            while (reader := self.reader(made)).op_type != "QuantizeLinear":
                made = reader.output[0]
            output = (self.constants[reader.input[1]], self.constants[reader.input[2]], None)
            name = made.split(":")[0].removesuffix("_QuantizeLinear_Input")
            yield name, [self.codes(i) for i in node.input] + [output]


def main():
    own, peer = (dict(Network(path).layers()) for path in sys.argv[1:3])
    assert own.keys() == peer.keys(), own.keys() ^ peer.keys()
    compared, greatest, differing = 0, 0.0, 0
    for name, parts in peer.items():
        for index, (ours, theirs) in enumerate(zip(own[name], parts, strict=True)):
            relative = float(np.max(np.abs(ours[0].ravel() / theirs[0].ravel().astype(np.float64) - 1)))
            greatest = max(greatest, relative)
            same = relative <= MOST and np.array_equal(np.unique(ours[1]), np.unique(theirs[1]))
            if theirs[2] is not None:
                compared += theirs[2].size
                same = same and np.array_equal(ours[2].ravel(), theirs[2].ravel())
            if not same:
                differing += 1
                print(f"{name}: part {index} differs, scales by {relative:.1e}")
    print(json.dumps({"layers": len(peer), "codes": compared, "scales": greatest}))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
