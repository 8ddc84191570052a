"""How pages are read: blocks, commands, and what counts as printed as shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.page import Block, Command, blocks, commands, shows


def test_blocks_are_found_with_language_title_and_whether_to_repeat(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        'A\n\n```bash title="Once"\nls\n```\n\n<!-- again -->\n```console\n$ date\nnow\n```\n\n```\nnone\n```\n'
    )
    assert blocks(page) == [Block("bash", "Once", "ls\n"), Block("console", "", "$ date\nnow\n", again=True)]


def test_a_block_within_a_list_is_one_too(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("1. Do\n\n   ```yaml\n   a:\n     b: 1\n   ```\n\n2. Done\n")
    assert blocks(page) == [Block("yaml", "", "a:\n  b: 1\n")]


def test_a_console_block_has_a_command_per_prompt_with_its_output() -> None:
    block = Block("console", "", "$ one \\\n  two\nprinted\n$ cat <<EOF\na\nEOF\na\n$ silent\n")
    assert list(commands(block)) == [
        Command("one \\\n  two", ("printed",)),
        Command("cat <<EOF\na\nEOF", ("a",)),
        Command("silent"),
    ]


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a"], ["a", "b"], False),
        (["a", "b"], ["a"], False),
        (["a", "..."], ["a"], True),
        (["a", "..."], ["a", "b", "c"], True),
        (["...", "c"], ["a", "b", "c"], True),
        (["...", "b"], ["a", "b", "c"], False),
        (["a", "...", "b", "..."], ["a", "x", "b"], True),
        (["at 2026-01-07T10:00:00.000Z"], ["at 2027-11-22T00:21:10.023Z"], True),
        (["5 rows in 8.0 s, 2.1 kB"], ["5 rows in 19.4 s, 3,847.5 kB"], True),
        (["5 rows, 8.0 s"], ["5 rows, 1 min 20 s"], True),
        (["5 rows, 8.0 s"], ["5 rows, 3 h 7 min"], True),
        (["5 rows, 8.0 s"], ["5 rows, 8.0 steps"], False),
        (["5 rows in 8.0 s"], ["4 rows in 8.0 s"], False),
        (["1 batch, 3 steps"], ["1 batch, 4 steps"], False),
        (["127.0.0.1:9092 answers"], ["127.0.0.1:40615 answers"], True),
        (["position: 12:34"], ["position: 5:6"], True),
        (["writer a-b; waiting: 0 offsets"], ["writer c-d; waiting: 0 offsets"], True),
        (["writer a-b; waiting: 0 offsets"], ["writer c-d; waiting: 1 offset"], False),
    ],
)
def test_only_what_is_different_each_time_may_differ(shown: list[str], printed: list[str], same: bool) -> None:
    assert shows(shown, printed) is same
