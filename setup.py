"""Builds the optional extension modules; everything else that setuptools has to know is in pyproject.toml."""

from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel


class Wheel(bdist_wheel):
    """A wheel that is named after a platform only where an extension module for it is in there."""

    def get_tag(self) -> tuple[str, str, str]:
        modules = self.get_finalized_command("build_ext").get_outputs()
        return super().get_tag() if any(Path(module).exists() for module in modules) else ("py3", "none", "any")


setup(
    cffi_modules=["kernel_build.py:json_kernel", "kernel_build.py:avro_kernel", "kernel_build.py:messages"],
    cmdclass={"bdist_wheel": Wheel},
    # The modules keep to the stable interface of the oldest Python that the bridge runs on: one wheel for all.
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
