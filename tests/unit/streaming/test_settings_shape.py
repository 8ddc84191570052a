"""Settings of what a table's rows are made into: what goes together, and what becomes of the secrets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from connectors.debezium.events import Op
from connectors.debezium.schema import SourceTable
from streaming.job_options import job_options
from streaming.policies import Compaction, OnCastFailure, TableMode
from streaming.settings import SettingsError, settings_of
from tests.unit.streaming.settings_builder import broken, settings, settings_text

SALT, KEY = "a salt of sixteen or more", "a key of sixteen or more"
ORDERS = SourceTable("shop", "public", "orders")


def defaults(**rules: Any) -> dict[str, Any]:
    return {"tables__defaults": rules}


class TestOptions:
    def test_everything_reaches_the_tasks(self) -> None:
        rules = {
            "columns": {"hash": ["id"], "encrypt": ["iban"], "mask": ["email"]},
            "casts": {"price": "decimal(18,2)"},
            "add": {"load_source": "'shop'", "total": "price * quantity"},
            "soft_delete": {"column": "_deleted"},
            "compaction": "last_state",
            "policies": {"on_cast_failure": "park"},
        }
        job = job_options(settings(**defaults(**rules), tables__secrecy={"salt": SALT, "key": KEY}))
        options = job.options_for(ORDERS)
        assert (options.hashed, options.encrypted, options.mask) == (("id",), ("iban",), ("email",))
        assert options.casts == (("price", "decimal(18,2)"),)
        assert options.added == (("load_source", "'shop'"), ("total", "price * quantity"))
        assert (options.soft_delete, options.mode) == ("_deleted", TableMode.MIRROR)
        assert (options.compaction, options.on_cast_failure) == (Compaction.LAST_STATE, OnCastFailure.PARK)
        assert (job.secrecy.salt, job.secrecy.key) == (SALT, KEY)
        decoding = job.decode.rules.decoding_for(ORDERS)
        assert decoding is not None
        assert (decoding.before_images, decoding.append) == (True, False)

    def test_a_history_is_decoded_with_images_and_without_keys(self) -> None:
        job = job_options(settings(**defaults(mode="history")))
        decoding = job.decode.rules.decoding_for(ORDERS)
        assert decoding is not None
        assert (decoding.before_images, decoding.append) == (True, True)

    def test_off_and_null_need_no_quotes(self) -> None:
        text = (
            settings_text() + "tables:\n  defaults:\n    compaction: off\n    policies:\n      on_cast_failure: null\n"
        )
        table = settings_of(text, "bridge.yaml").tables.defaults
        assert (table.compaction, table.policies.on_cast_failure) == (Compaction.OFF, OnCastFailure.NULL)

    def test_an_override_switches_an_option_of_the_defaults_off(self) -> None:
        overrides = [{"match": "public.orders", "soft_delete": {"column": None}}]
        tables = settings(**defaults(soft_delete={"column": "_deleted"}), tables__overrides=overrides).tables
        assert tables.settings_for("public.orders").settings.soft_delete.column is None
        assert tables.settings_for("public.other").settings.soft_delete.column == "_deleted"

    @pytest.mark.parametrize(
        ("rules", "left_out"),
        [
            ({"included_operations": ["c", "r"]}, {Op.UPDATE, Op.DELETE, Op.TRUNCATE}),
            ({"excluded_operations": ["t"]}, {Op.TRUNCATE}),
            (
                {"included_operations": ["c", "u"], "excluded_operations": ["t"]},
                {Op.READ, Op.DELETE, Op.TRUNCATE},
            ),
            ({}, set()),
        ],
    )
    def test_operations_are_taken_or_left_out(self, rules: dict[str, Any], left_out: set[Op]) -> None:
        decoding = job_options(settings(**defaults(**rules))).decode.rules.decoding_for(ORDERS)
        assert decoding is not None
        assert set(decoding.excluded_operations) == left_out


class TestRules:
    @pytest.mark.parametrize(
        ("rules", "problem"),
        [
            (
                {"mode": "history", "compaction": "last_state"},
                "compaction has no effect in mode history, where every change is a row: set it to off",
            ),
            (
                {"mode": "history", "soft_delete": {"column": "_deleted"}},
                "soft_delete.column has no effect in mode history, where each row says whether it is gone",
            ),
            (
                {"compaction": "last_state", "policies": {"on_missing_key": "append"}},
                "compaction needs a key, so policies.on_missing_key can't be append: set one of the two back",
            ),
            (
                {"soft_delete": {"column": "_deleted"}, "included_operations": ["c"]},
                "soft_delete.column has no effect: the deletes are left out by the table's operations",
            ),
            (
                {"included_operations": ["c", "t"], "excluded_operations": ["u", "t"]},
                "excluded_operations[1] leaves out t, which included_operations takes",
            ),
            (
                {"columns": {"hash": ["a", "b"], "mask": ["b"]}},
                "columns.mask[0] stands in columns.hash too: a column lands in one way only",
            ),
            (
                {"casts": {"price": "money"}},
                "casts.price is not a type to cast to: bool, boolean, int16, int32, int64, float32, float64, string, "
                "binary, date, timestamp, timestamptz, or decimal(p,s) with up to 38 digits",
            ),
            (
                {"casts": {"b": "int64"}, "declared": {"a": "int64"}},
                "casts.b is not among the declared columns",
            ),
            (
                {"add": {"at": "now()"}},
                "add.at uses now: a column is computed from its own row, without clock or query",
            ),
            (
                {"add": {"a": "1"}, "declared": {"a": "int64"}},
                "add.a is a declared column already: give the added one another name",
            ),
            (
                {"add": {"_cdc_op": "1"}, "metadata_columns": ["op"]},
                "add._cdc_op is a metadata column already: give the added one another name",
            ),
            (
                {"add": {"m_deleted": "1"}, "metadata_prefix": "m_", "mode": "history"},
                "add.m_deleted is a metadata column already: give the added one another name",
            ),
            (
                {"soft_delete": {"column": "_cdc_op"}, "metadata_columns": ["op"]},
                "soft_delete.column is a metadata column already: give it another name",
            ),
            (
                {"add": {"gone": "1"}, "soft_delete": {"column": "gone"}},
                "add.gone is the column of soft_delete already: give the added one another name",
            ),
            (
                {"soft_delete": {"column": "a"}, "declared": {"a": "int64"}},
                "soft_delete.column is a declared column already: give it another name",
            ),
        ],
    )
    def test_what_makes_no_sense_is_refused_with_a_sentence(self, rules: dict[str, Any], problem: str) -> None:
        found = broken(**defaults(**rules), tables__secrecy={"salt": SALT})
        assert f"tables.defaults.{problem}" in found

    def test_an_override_is_judged_together_with_the_defaults(self) -> None:
        overrides = [{"match": "a", "mode": "history"}]
        assert broken(**defaults(compaction="last_state"), tables__overrides=overrides) == [
            "tables.overrides[0] doesn't go with tables.defaults: compaction has no effect in mode history, where "
            "every change is a row: set it to off"
        ]

    def test_disguises_need_their_secrets(self) -> None:
        overrides = [{"match": "a", "columns": {"encrypt": ["b"]}}]
        assert broken(**defaults(columns={"hash": ["a"]}), tables__overrides=overrides) == [
            "tables.secrecy.salt_file is required (or salt): there are columns to hash",
            "tables.secrecy.key_file is required (or key): there are columns to encrypt",
        ]


class TestSecrets:
    def test_a_secret_is_given_once_and_is_long_enough(self, tmp_path: Path) -> None:
        file = tmp_path / "salt"
        file.write_text(SALT)
        assert broken(tables__secrecy={"salt": SALT, "salt_file": str(file), "key": "short"}) == [
            "tables.secrecy.salt_file can't be set together with salt: keep one of the two",
            "tables.secrecy.key is too short to keep anything secret: at least 16 characters, best random ones",
        ]

    def test_it_comes_from_a_file_or_from_the_environment(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = tmp_path / "salt"
        file.write_text(f"{SALT}\n")
        monkeypatch.setenv("CDC_BRIDGE_TABLES__SECRECY__KEY", KEY)
        secrecy = job_options(settings(tables__secrecy={"salt_file": str(file)})).secrecy
        assert (secrecy.salt, secrecy.key) == (SALT, KEY)

    def test_a_file_with_a_short_secret_is_told(self, tmp_path: Path) -> None:
        file = tmp_path / "salt"
        file.write_text("short")
        with pytest.raises(SettingsError) as caught:
            job_options(settings(tables__secrecy={"salt_file": str(file)}))
        assert caught.value.message == (
            "The secret in a file is too short to keep anything secret: at least 16 characters, best random ones"
        )
        assert caught.value.remedy == (
            "write a longer one into the file; a table that landed with the short one needs `cdc-bridge resync CONFIG "
            "TABLE` then"
        )

    @pytest.mark.parametrize(
        "secrecy",
        [
            "hunter2secretlonglong",
            ["hunter2secretlonglong"],
            {"salt": "hunter2"},
            {"salt": {"a": "hunter2secretlonglong"}},
            {"salt_file": "hunter2secretlonglong"},
            {"salt": "hunter2secretlonglong", "salty": "hunter2"},
        ],
    )
    def test_no_error_shows_one_that_is_written_wrongly(self, secrecy: Any) -> None:
        with pytest.raises(SettingsError) as caught:
            settings(tables__secrecy=secrecy)
        assert "hunter2" not in f"{caught.value} {caught.value.facts} {caught.value.problems}"

    def test_no_error_shows_one_in_the_place_of_a_section_around_it(self) -> None:
        with pytest.raises(SettingsError) as caught:
            settings(kafka="hunter2secretlonglong")
        assert "hunter2" not in str(caught.value)

    def test_it_is_shown_nowhere(self) -> None:
        made = settings(tables__secrecy={"salt": SALT, "key": KEY})
        job = job_options(made)
        for shown in (repr(made), str(made.model_dump()), repr(job), job.fingerprint):
            assert SALT not in shown
            assert KEY not in shown
