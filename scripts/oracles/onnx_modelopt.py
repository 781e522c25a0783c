"""Networks written by Model Optimizer (`onnx_exported.py`)."""

from onnx_exported import modelopt as add

__all__ = ["add"]
