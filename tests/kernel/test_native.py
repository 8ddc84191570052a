"""An extension module counts only where it was built of the C beside it, and none is passed over without a word."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from connectors.extension import Extension, load
from tests.avro_kernel import sanitizing as avro_sanitizing
from tests.kafka_messages import sanitizing as messages_sanitizing
from tests.kernel import sanitizing as kernel_sanitizing
from tests.support import avro_kernel, json_kernel, kafka_messages

WITHOUT = "It goes slowly"


@dataclass(frozen=True)
class Module:
    """An extension module and where its C is, ``<name>.c`` and ``<name>.h``."""

    module: str
    folder: Path
    name: str

    def load(self, module: str = "", folder: Path | None = None) -> Extension | None:
        return load(module or self.module, folder or self.folder, self.name, WITHOUT)


MODULES = (
    Module("connectors.debezium.avro_kernel._kernel", avro_sanitizing.FOLDER, "kernel"),
    Module("connectors.debezium.json_kernel._kernel", kernel_sanitizing.FOLDER, "kernel"),
    Module("connectors.kafka.reading._messages", messages_sanitizing.FOLDER, "messages"),
)
each_module = pytest.mark.parametrize("built", MODULES, ids=lambda built: str(built.folder.name))


@each_module
def test_where_there_is_no_module_nothing_is_said(built: Module, caplog: pytest.LogCaptureFixture) -> None:
    assert built.load(f"{built.module}_of_nobody") is None
    assert caplog.messages == []


@each_module
def test_a_module_of_these_sources_is_taken(built: Module, caplog: pytest.LogCaptureFixture) -> None:
    assert built.load() is not None
    assert caplog.messages == []


@each_module
@pytest.mark.parametrize("changed", ["c", "h"])
def test_a_module_of_other_sources_is_told_of(
    built: Module, changed: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for suffix in ("c", "h"):
        shutil.copy(built.folder / f"{built.name}.{suffix}", tmp_path)
    with (tmp_path / f"{built.name}.{changed}").open("a") as source:
        source.write("\n")
    assert built.load(folder=tmp_path) is None
    [told] = caplog.messages
    assert told.startswith(f"{WITHOUT}: it was built of other sources than those in {tmp_path}")


@each_module
def test_a_module_without_its_sources_is_told_of(
    built: Module, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert built.load(folder=tmp_path) is None
    [told] = caplog.messages
    assert f"{built.name}.h" in told


def test_a_module_of_another_s_sources_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    avro, json, messages = MODULES
    assert json.load(avro.module) is None
    assert messages.load(json.module) is None
    assert ["built of other sources" in told for told in caplog.messages] == [True, True]


@each_module
def test_a_module_that_is_none_is_told_of(
    built: Module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / f"damaged_{built.name}"
    folder.mkdir()
    (folder / "_module.abi3.so").write_bytes(b"no library")
    monkeypatch.syspath_prepend(tmp_path)
    assert built.load(f"{folder.name}._module") is None
    [told] = caplog.messages
    assert told.startswith(f"{WITHOUT}: it cannot be loaded")


@each_module
def test_a_module_that_needs_what_is_not_there_is_told_of(
    built: Module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / f"lacking_{built.name}"
    folder.mkdir()
    (folder / "_module.py").write_text("import backend_of_nobody\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert built.load(f"{folder.name}._module") is None
    [told] = caplog.messages
    assert "backend_of_nobody" in told


@pytest.mark.parametrize(
    ("support", "lacking"), [(avro_kernel, "KERNEL"), (json_kernel, "KERNEL"), (kafka_messages, "LIBRARY")]
)
def test_the_tests_do_not_pass_without_the_module_nor_without_a_compiler(
    support: ModuleType, lacking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(support, lacking, None)
    monkeypatch.setattr(support, "COMPILER", "/usr/bin/cc")
    with pytest.raises(AssertionError, match="make extensions"):
        support.built()
    monkeypatch.setattr(support, "COMPILER", None)
    with pytest.raises(AssertionError, match="apt-get install gcc"):
        support.built()
