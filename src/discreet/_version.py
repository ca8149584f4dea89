"""The version of the library, as it was installed."""

from importlib.metadata import version

__version__ = version("discreet")
