"""Networks written by Quark (`onnx_exported.py`)."""

from onnx_exported import quark as add

__all__ = ["add"]
