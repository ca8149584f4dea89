"""Fitted models as files: our own format without pickle, and those of skops and ONNX."""

from discreet.artifact.folder import load, save
from discreet.artifact.onnx_file import to_onnx
from discreet.artifact.skops_file import to_skops

__all__ = ["load", "save", "to_onnx", "to_skops"]
