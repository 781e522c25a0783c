"""A transformer block quantized by ONNX Runtime's quantizer."""

from onnx_networks import add as networks
from onnx_networks import block


def add(cases):
    networks(cases, [("transformer", block)], 5)
