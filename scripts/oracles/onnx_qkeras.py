"""Networks written by QKeras' converter (`onnx_exported.py`)."""

from onnx_exported import qkeras as add

__all__ = ["add"]
