"""What MariaDB's and MySQL's statements rename."""

from __future__ import annotations

import logging

import pytest

from connectors.debezium.renames import Named, Renames, may_make_anew, may_rename, renames_in

A, B = Named(None, "a"), Named(None, "b")


@pytest.mark.parametrize(
    ("statement", "renames"),
    [
        ("RENAME TABLE a TO b", Renames(A, B, ())),
        ("rename tables a to b", Renames(A, B, ())),
        ("RENAME TABLE IF EXISTS s.a /* TO */ TO `t`.b # then", Renames(Named("s", "a"), Named("t", "b"), ())),
        ('RENAME TABLE `we``ird "q.` TO `to`', Renames(Named(None, 'we`ird "q.'), Named(None, "to"), ())),
        ("ALTER TABLE a RENAME TO b", Renames(A, B, ())),
        ("ALTER TABLE a RENAME b", Renames(A, B, ())),
        ("ALTER TABLE a ADD COLUMN z int, RENAME TO b", Renames(A, B, ())),
        ("ALTER TABLE a CHANGE x y varchar(20)", Renames(A, None, (("x", "y"),))),
        (
            "ALTER TABLE a CHANGE COLUMN x `y z` int AFTER q, CHANGE u v int",
            Renames(A, None, (("x", "y z"), ("u", "v"))),
        ),
        ("ALTER TABLE a RENAME COLUMN x TO y, RENAME COLUMN y TO x", Renames(A, None, (("x", "y"), ("y", "x")))),
        (
            "ALTER TABLE a CHANGE x y int(11) unsigned NOT NULL DEFAULT 0 COMMENT 'rename c to d', "
            "ADD UNIQUE KEY k (y), ALGORITHM=INPLACE, LOCK=NONE",
            Renames(A, None, (("x", "y"),)),
        ),
        ("ALTER TABLE a RENAME COLUMN x TO y, RENAME TO b", Renames(A, B, (("x", "y"),))),
        ("ALTER TABLE a CHANGE x x bigint", Renames(A, None, ())),
        ("ALTER TABLE a RENAME INDEX x TO y", Renames(A, None, ())),
        ("ALTER TABLE a RENAME TO a", Renames(A, None, ())),
        ("ALTER TABLE a DROP COLUMN x, ADD COLUMN x int NOT NULL DEFAULT 0 AFTER q", Renames(A, None, (), ("x",))),
        ("ALTER TABLE a ADD `x y` enum('a'), ADD z int, DROP IF EXISTS `X Y`", Renames(A, None, (), ("x y",))),
        ("ALTER TABLE a CHANGE x y int, ADD x int", Renames(A, None, (("x", "y"),), ("x",))),
        ("ALTER TABLE a RENAME COLUMN x TO y, DROP z, ADD x int", Renames(A, None, (("x", "y"),), ("x",))),
        ("ALTER TABLE a MODIFY x int, ADD x2 int, DROP y, DROP INDEX x2", Renames(A, None, ())),
    ],
)
def test_what_a_statement_renames(statement: str, renames: Renames) -> None:
    assert renames_in(statement) == renames


@pytest.mark.parametrize(
    "statement",
    [
        "RENAME TABLE a TO b, c TO d",
        "RENAME TABLE a WAIT 5 TO b",
        "RENAME TABLE x.y.a TO b",
        "RENAME TABLE a",
        "RENAME USER a TO b",
        "ALTER ONLINE TABLE a RENAME COLUMN x TO y",
        "ALTER TABLE a RENAME COLUMN IF EXISTS x TO y",
        "ALTER TABLE a RENAME TO b, RENAME TO c",
        "ALTER TABLE a RENAME COLUMN x TO y, ADD PARTITION (PARTITION p VALUES LESS THAN (5))",
        "ALTER TABLE a CHANGE x y int; DROP TABLE a",
        "ALTER TABLE a DROP SYSTEM VERSIONING, CHANGE x y int",
        "ALTER TABLE a DROP x, ADD (x int)",
        "ALTER TABLE a RENAME COLUMN " + "(" * 5_000,
        "ALTER TABLE a CHANGE x y int COMMENT '" + "z" * 100_000 + "'",
        "RENAME TABLE 'a",
        "",
    ],
)
def test_a_statement_that_is_not_read_from_end_to_end_renames_nothing(
    statement: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        assert renames_in(statement) is None
    assert caplog.records == []


def test_only_two_words_can_rename_anything() -> None:
    assert may_rename("alter table t\nrename to x")
    assert may_rename("ALTER TABLE t CHANGE a b int")
    assert not may_rename("ALTER TABLE exchange ADD COLUMN renamed int")


@pytest.mark.parametrize("word", ["drop", "CHANGE", "Rename"])
def test_a_column_is_made_anew_by_two_words(word: str) -> None:
    assert may_make_anew(f"alter table a {word} x y, add x int")
    assert not may_make_anew(f"ALTER TABLE a {word} x y, MODIFY x int")
    assert not may_make_anew(f"ALTER TABLE a{word} ADD x int")
