"""The version of the package; the build reads it from here, as reading it from the installation takes 70 ms."""

__version__ = "0.1.0"
