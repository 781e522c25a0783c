"""Networks that the exporter of this name wrote (`onnx_exported.py`)."""

from onnx_exported import quark as add

__all__ = ["add"]
