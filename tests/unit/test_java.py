"""Which Java is taken, and what is said when none can be."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from connectors.java import (
    REMEDY,
    Java,
    JavaError,
    find_java,
    inspect_java,
    java_home,
    java_home_fault,
    run_java,
    select_java,
)

ANSWER = """#!/bin/sh
echo "    java.home = {home}" >&2
echo "    java.specification.version = {version}" >&2
echo "java.base@{version}"
echo "{module}"
"""


def install(home: Path, version: str = "17", module: str = "jdk.incubator.vector@17.0.1") -> Path:
    """A Java that answers as a real one does."""
    return script(home, ANSWER.format(home=home, version=version, module=module))


def script(home: Path, text: str) -> Path:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(text)
    java.chmod(0o755)
    return java


def test_java_home_comes_before_the_path_and_the_path_before_the_usual_folders(tmp_path: Path) -> None:
    home, path, usual = (install(tmp_path / name) for name in ("home", "path", "jvm/usual"))
    folders = (f"{tmp_path}/jvm/*",)
    with_path = {"PATH": str(path.parent)}

    assert find_java({"JAVA_HOME": str(tmp_path / "home"), **with_path}, folders) == home
    assert find_java(with_path, folders) == path
    assert find_java({}, folders) == usual


@pytest.mark.parametrize("version", ["17", "21"])
def test_a_usable_java_is_described(tmp_path: Path, version: str) -> None:
    java = install(tmp_path / "jdk", version)

    assert select_java({"JAVA_HOME": str(tmp_path / "jdk")}, ()) == Java(
        executable=java, home=tmp_path / "jdk", version=int(version), vector=True
    )


def test_an_unusable_java_is_passed_over(tmp_path: Path) -> None:
    install(tmp_path / "new", "25")
    good = install(tmp_path / "good", "21")

    assert find_java({"JAVA_HOME": str(tmp_path / "new"), "PATH": str(good.parent)}, ()) == good


def test_a_java_home_that_was_passed_over_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    new, good = install(tmp_path / "new", "25"), install(tmp_path / "good", "21")
    environ = {"JAVA_HOME": str(tmp_path / "new"), "PATH": str(good.parent)}
    fault = f"JAVA_HOME is {tmp_path}/new, but {new} is Java 25"

    assert java_home_fault(select_java(environ, ()), environ) == fault
    find_java(environ, ())
    assert caplog.messages == [f"{fault}; Java 21 at {tmp_path}/good is used instead"]


def test_a_java_home_that_is_used_or_not_set_needs_no_word(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    good = install(tmp_path / "good", "21")

    for environ in ({"JAVA_HOME": str(tmp_path / "good")}, {"PATH": str(good.parent)}):
        assert find_java(environ, ()) == good
    assert caplog.messages == []


def test_every_java_looked_at_is_named_with_what_is_wrong_with_it(tmp_path: Path) -> None:
    old = install(tmp_path / "jvm/a-old", "1.8")
    trimmed = install(tmp_path / "jvm/b-trimmed", "17", module="java.sql@17")
    mute = script(tmp_path / "jvm/c-mute", "#!/bin/sh\nexit 1\n")
    broken = script(tmp_path / "jvm/d-broken", "no program")
    environ = {"JAVA_HOME": str(tmp_path / "gone"), "PATH": str(old.parent)}

    with pytest.raises(JavaError) as raised:
        find_java(environ, (f"{tmp_path}/jvm/*",))

    assert str(raised.value) == (
        f"no Java that Spark 4.0 can run on was found on this {sys.platform} machine; "
        f"JAVA_HOME is {tmp_path}/gone, looked at: {tmp_path}/gone/bin/java does not exist; {old} is Java 8; "
        f"{trimmed} is Java 17 without the module jdk.incubator.vector; "
        f"{mute} is not a Java runtime of version 9 or later; {broken} does not run (Exec format error) "
        f"[java_home={tmp_path}/gone]. Remedy: install Java 17 or 21: `apt-get install openjdk-17-jre-headless` on "
        "Debian and Ubuntu, `brew install openjdk@17` on macOS; or point JAVA_HOME at one that is installed elsewhere"
    )


def test_where_was_looked_is_said_when_there_is_no_java_at_all() -> None:
    with pytest.raises(JavaError) as raised:
        find_java({"PATH": ""}, ())

    assert raised.value.message.endswith("machine; looked in JAVA_HOME, on PATH and in the usual folders")
    assert raised.value.remedy == REMEDY


def test_a_java_that_never_answers_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = script(tmp_path / "slow", "#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setattr("connectors.java._ANSWER_SECONDS", 0.1)

    assert inspect_java(java) == "does not run (no end within 0 s)"


def test_the_home_is_found_through_links(tmp_path: Path) -> None:
    java = install(tmp_path / "jdk-17")
    link = tmp_path / "java"
    link.symlink_to(java)

    assert java_home(link) == tmp_path / "jdk-17"


def test_output_that_is_not_utf8_is_no_trouble(tmp_path: Path) -> None:
    java = script(tmp_path / "jdk", "#!/bin/sh\nprintf 'a\\377b'\nexit 3\n")

    done = run_java(java, [], timeout=10)

    assert (done.returncode, done.stdout) == (3, "a\ufffdb")
