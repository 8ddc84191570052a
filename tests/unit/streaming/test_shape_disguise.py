"""Hashed, encrypted and masked columns, and the form of the keys that a table with files keeps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from connectors.debezium.schema import RowSchema
from streaming.plan import TableOptions
from streaming.policies import TableMode
from tests.unit.streaming.events import MARKER, MISSING, SCHEMA, Event, following, land, landed, plan, row, rows
from tests.unit.streaming.shaped import SECRECY, digest, only, stop_of


class TestDisguise:
    def test_hashed_keys_of_rows_deletes_and_old_keys_are_alike(self, tmp_path: Path) -> None:
        options = TableOptions(hashed=("id", "name"))
        events = [Event("c", row(1)), Event("u", row(2), old_key={"id": 1}), Event("d", {"id": 2})]
        result = land(tmp_path, events, options=options, secrecy=SECRECY)
        assert only(tmp_path, result, "id", "name", MARKER) == [
            (digest("1"), digest("a"), 4),
            (digest("1"), None, 2),
            (digest("2"), digest("a"), 4),
            (digest("2"), None, 2),
        ]
        assert result.state.key_forms == ("hash:5a17",)

    def test_hash_wins_over_encrypt_and_encrypt_over_mask(self, tmp_path: Path) -> None:
        options = TableOptions(hashed=("name",), encrypted=("name", "doc"), mask=("name", "doc"))
        (line,) = landed(tmp_path, land(tmp_path, [Event("c", row(1))], options=options, secrecy=SECRECY))
        assert line["name"] == digest("a")
        assert line["doc"] not in ("d", "****")
        assert line["id"] == 1

    def test_a_disguised_value_that_was_not_sent_is_filled_from_an_earlier_row(self, tmp_path: Path) -> None:
        options = TableOptions(hashed=("id", "doc"))
        batches = [[Event("c", row(1))], [Event("u", row(1, "b", MISSING))]]
        result = land(tmp_path, *batches, options=options, secrecy=SECRECY)
        assert only(tmp_path, result, "name", "doc") == [("a", digest("d")), ("b", digest("d"))]

    def test_a_masked_key_column_parks_the_table_before_it_lands_in_the_clear(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("c", row(1))], options=TableOptions(mask=("i*", "name")))
        assert result.file is None
        assert stop_of(result) == (
            "masked_key",
            "the settings mask key columns, by which rows are found, so that they cannot be masked: id",
            "hash or encrypt them instead (columns.hash, columns.encrypt), or take them out of columns.mask if they "
            "may land in the clear; then `cdc-bridge resync CONFIG TABLE` if anything of the table has landed, else "
            "`cdc-bridge resume CONFIG TABLE`",
            0,
        )

    def test_a_table_whose_key_has_landed_in_the_clear_goes_no_further(self, tmp_path: Path) -> None:
        before = land(tmp_path / "before", [Event("c", row(1))])
        result = land(
            tmp_path / "now",
            rows([Event("u", row(2), old_key={"id": 1})], first_offset=1),
            state=before.state,
            batch_plan=following(before, plan(tmp_path / "now", options=TableOptions(mask=("id",)))),
        )
        assert (result.file, stop_of(result)[0]) == (None, "masked_key")

    def test_a_key_that_moves_to_a_masked_column_does_not_land_there(self, tmp_path: Path) -> None:
        schema = replace(SCHEMA, key=("name",))
        result = land(tmp_path, rows([Event("c", row(1))], schema=schema), options=TableOptions(mask=("name",)))
        assert (result.file, stop_of(result)[0]) == (None, "masked_key")

    def test_a_key_that_is_hashed_or_in_a_history_may_be_masked_as_well(self, tmp_path: Path) -> None:
        hashed = TableOptions(mask=("id",), hashed=("id",))
        result = land(tmp_path / "hashed", [Event("c", row(1))], options=hashed, secrecy=SECRECY)
        assert only(tmp_path / "hashed", result, "id") == [(digest("1"),)]
        history = TableOptions(mask=("id", "name"), mode=TableMode.HISTORY)
        result = land(tmp_path / "history", [Event("c", row(1))], options=history)
        assert only(tmp_path / "history", result, "id", "name", "doc") == [(None, "****", "d")]

    def test_a_pattern_to_mask_that_takes_no_column_is_told_once(self, tmp_path: Path) -> None:
        options = TableOptions(mask=("Name", "d*"))
        result = land(tmp_path, [Event("c", row(1))], [Event("c", row(2))], options=options)
        assert result.notes == (
            "columns.mask: no column matches Name (upper and lower case count): there are id, name, doc",
        )

    def test_deletes_that_may_have_their_key_alone_say_nothing_of_patterns(self, tmp_path: Path) -> None:
        keys = RowSchema(SCHEMA.fields[:1], key=("id",), learned=True)
        delete = rows([Event("d", {"id": 1})], schema=keys)
        assert land(tmp_path, delete, options=TableOptions(mask=("name",))).notes == ()

    def test_columns_that_do_not_land_are_not_disguised(self, tmp_path: Path) -> None:
        options = TableOptions(hashed=("doc",), exclude=("doc",))
        assert landed(tmp_path, land(tmp_path, [Event("c", row(1))], options=options)) == [
            {"id": 1, "name": "a", MARKER: 4}
        ]

    @pytest.mark.parametrize("options", [TableOptions(), TableOptions(encrypted=("id",))])
    def test_a_table_with_files_keeps_the_form_of_its_keys(self, tmp_path: Path, options: TableOptions) -> None:
        known = land(tmp_path, [Event("c", row(1))], options=TableOptions(hashed=("id",)), secrecy=SECRECY)
        later = plan(tmp_path, options=options, secrecy=SECRECY)
        later = replace(later, tables={known.table: known.state}, schemas=known.schemas)
        result = land(tmp_path, rows([Event("c", row(2))], first_offset=1), state=known.state, batch_plan=later)
        assert stop_of(result) == (
            "key_form_changed",
            "the key columns land in another form, or under another secret, than in the table's 1 files, so that no "
            "row would be found again",
            "restore columns.hash, columns.encrypt and tables.secrecy and `cdc-bridge resume CONFIG TABLE`, or "
            "`cdc-bridge resync CONFIG TABLE`",
            1,
        )

    def test_another_salt_is_another_form(self, tmp_path: Path) -> None:
        options = TableOptions(hashed=("id",))
        known = land(tmp_path, [Event("c", row(1))], options=options, secrecy=SECRECY)
        later = plan(tmp_path, options=options, secrecy=replace(SECRECY, salt="another", salt_digest="a0"))
        later = replace(later, tables={known.table: known.state}, schemas=known.schemas)
        result = land(tmp_path, rows([Event("c", row(2))], first_offset=1), state=known.state, batch_plan=later)
        assert stop_of(result)[0] == "key_form_changed"

    def test_another_encryption_key_is_another_form(self, tmp_path: Path) -> None:
        options = TableOptions(encrypted=("id",))
        known = land(tmp_path, [Event("c", row(1))], options=options, secrecy=SECRECY)
        later = plan(tmp_path, options=options, secrecy=replace(SECRECY, key="another", key_digest="a0"))
        later = replace(later, tables={known.table: known.state}, schemas=known.schemas)
        result = land(tmp_path, rows([Event("c", row(2))], first_offset=1), state=known.state, batch_plan=later)
        assert stop_of(result)[0] == "key_form_changed"

    def test_options_without_the_secret_are_a_mistake_of_the_caller(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="hold no secret for it"):
            land(tmp_path, [Event("c", row(1))], options=TableOptions(hashed=("name",)))
