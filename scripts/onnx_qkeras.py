"""Networks that the exporter of this name wrote (`onnx_exported.py`)."""

from onnx_exported import qkeras as add

__all__ = ["add"]
