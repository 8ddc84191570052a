"""What the zone does not prove of a lost ledger stops its table; and the command that makes the ledger again."""

from __future__ import annotations

import io
import random
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

from connectors.landing_zone.errors import InvalidZoneError, LedgerWholeError
from connectors.landing_zone.ledger.apply import Stamp
from connectors.landing_zone.ledger.copying import SNAPSHOT_COPY
from connectors.landing_zone.ledger.lost import RebuiltLedger, rebuilt_ledger
from connectors.landing_zone.ledger.lost_table import Proof
from connectors.landing_zone.ledger.remains import put_in_place
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.requests import Action, Request
from streaming.lifecycle.pausing import Resume
from streaming.plan import TableOptions
from streaming.policies import FileFormat
from streaming.settings import BridgeSettings, settings_of
from streaming.zones.rebuilding_ledger import LedgerRebuild, needs_person, rebuild_ledger, show_rebuild, summary_text
from tests.unit.streaming.landed_shop import row
from tests.unit.streaming.lost_ledgers import ORDERS, STAMP, World, proofs, some
from tests.unit.streaming.settings_builder import settings_text


class TestUnproven:
    @staticmethod
    def why(made: RebuiltLedger, table: str = "public.orders") -> str:
        parked = made.state.tables[table].parked
        assert parked is not None
        assert (parked.reason, parked.remedy) == ("ledger_rebuilt", f"`cdc-bridge resync CONFIG {table}`")
        begin = "the ledger was lost and made again, and what this table has landed is not proven: "
        assert parked.message.startswith(begin)
        return parked.message.removeprefix(begin)

    def test_a_file_that_says_nothing_of_itself_stops_its_table(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        (tmp_path / "zone/public.schema/orders" / f"{9:020d}.parquet").write_bytes(b"PAR1 not really")
        world.lose()
        made = world.rebuild()
        assert self.why(made).startswith("file 9 does not say where it belongs: ")
        assert made.state.tables["public.orders"].sequence == 9
        assert proofs(made)["public.orders"] is Proof.NONE
        assert made.state.tables["public.lines"].parked is None

    def test_a_file_of_another_table_stops_its_table(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        folder = tmp_path / "zone/public.schema"
        shutil.copy(folder / "lines" / f"{3:020d}.parquet", folder / "orders" / f"{4:020d}.parquet")
        world.lose()
        assert self.why(world.rebuild()) == "file 4 says that it is file 3 of public.lines"

    def test_without_a_copy_every_table_stops(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        (tmp_path / "zone" / SNAPSHOT_COPY).unlink()
        world.lose()
        made = world.rebuild()
        assert made.copied is None
        assert made.state.topics == {}
        assert {self.why(made, name) for name in made.state.tables} == {"the ledger's copy does not know it"}
        assert made.state.tables["public.orders"].sequence == 3
        assert summary_text(LedgerRebuild(made, None)) == (
            f"{len(made.tables)} tables, {len(made.tables)} of them need a person; no copy of the ledger was found, so "
            "nothing is proven; nothing was written; `cdc-bridge adopt CONFIG --dry-run` shows what the folders prove"
        )
        assert "adopt" not in summary_text(LedgerRebuild(made, 7)), "there is a ledger by then"

    def test_without_a_copy_a_table_that_no_file_tells_of_is_left_out(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        (tmp_path / "zone" / SNAPSHOT_COPY).unlink()
        for path in (tmp_path / "zone/public.schema/orders").glob("0*"):
            path.write_bytes(b"id,name\n")
        world.lose()
        made = world.rebuild()
        assert "public.orders" not in made.state.tables
        [left_out] = [one for one in made.tables if one.state is None]
        assert (left_out.name, left_out.last) == ("public.orders", 3)

    def test_a_table_that_began_anew_or_was_being_filled_since_the_copy_stops(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        state = world.copied()
        orders, lines = state.tables["public.orders"], state.tables["public.lines"]
        older = replace(orders, generation=0)
        filling = replace(lines, status=TableStatus.FILLING, sequence=1)
        copy = replace(state, tables={**state.tables, "public.orders": older, "public.lines": filling})
        world.lose()
        made = rebuilt_ledger(world.job.zone, copy, work=tmp_path)
        assert self.why(made) == "it began anew after the ledger's copy"
        assert self.why(made, "public.lines") == "it was filling at the ledger's copy, and has landed more since"

    def test_a_table_behind_the_copy_s_offsets_or_of_an_unknown_topic_stops(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        state = world.copied()
        ahead = replace(state.topics["shop.orders"], partitions={0: 10_000})
        other = replace(state.topics["shop.lines"], id="another")
        tables = {name: replace(table, sequence=1) for name, table in state.tables.items()}
        copy = replace(state, tables=tables, topics={**state.topics, "shop.orders": ahead, "shop.lines": other})
        world.lose()
        made = rebuilt_ledger(world.job.zone, copy, work=tmp_path)
        assert self.why(made) == "it was catching up when the ledger was lost"
        known = "the ledger's copy does not know shop.lines as its last file does"
        assert self.why(made, "public.lines") == known

    def test_a_text_table_goes_on_only_from_the_very_file_that_the_copy_knows(self, tmp_path: Path) -> None:
        text = TableOptions(file_format=FileFormat.DELIMITED)
        world = World(tmp_path, random.Random(1), options={"defaults": text})
        world.log.append(ORDERS.create(row(1), 1))
        world.land()
        [path] = (tmp_path / "zone/public.schema/orders").glob(f"{1:020d}.*")
        world.lose()
        assert proofs(world.rebuild()) == {"public.orders": Proof.COPY}
        path.write_bytes(path.read_bytes() + b"\n")
        world.lose()
        assert self.why(world.rebuild()).startswith("file 1 does not say where it belongs: ")

    def test_it_cannot_be_resumed(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        (tmp_path / "zone" / SNAPSHOT_COPY).unlink()
        world.lose()
        world.rebuild()
        resume = Resume(world.job.opened(), world.job.job, world.job.outside())
        answer = resume(Request("1", 0, "me", Action.RESUME, "public.orders"))
        assert not answer.accepted
        assert answer.message.startswith("nobody knows what public.orders has landed: the ledger was lost")
        assert answer.remedy == "`cdc-bridge resync CONFIG public.orders`"


class TestCommand:
    @pytest.fixture
    def settings(self, tmp_path: Path) -> BridgeSettings:
        state = {"url": f"file://{tmp_path}/state"}
        return settings_of(settings_text(landing_zone__url=f"file://{tmp_path}/zone", state=state), "bridge.yaml")

    def test_what_it_would_be_and_what_it_is(self, tmp_path: Path, settings: BridgeSettings) -> None:
        world = some(tmp_path)
        version = world.copied().version
        (tmp_path / "zone/public.schema/orders" / f"{9:020d}.parquet").write_bytes(b"")
        world.lose()

        looked = rebuild_ledger(settings, look_only=True)
        assert looked.written is None
        assert not (tmp_path / "state").exists()
        done = rebuild_ledger(settings, look_only=False, now_ms=lambda: 4_711)

        assert done.written == version + 1_000_001
        values = done.values()
        assert (values["written_version"], values["copied_version"]) == (version + 1_000_001, version)
        [orders] = [one for one in done.rebuilt.tables if one.name == "public.orders"]
        assert needs_person(orders)
        console = Console(file=io.StringIO(), width=300)
        show_rebuild(done, console)
        said = console.file.getvalue()
        assert f"4 tables, 1 of them need a person; from the copy of version {version}; the ledger begins again" in said
        [line] = [line for line in said.splitlines() if line.startswith("public.orders")]
        assert line.split()[:5] == ["public.orders", "9", "-", "stands", "still"]

    def test_a_whole_ledger_is_left_alone(self, tmp_path: Path, settings: BridgeSettings) -> None:
        world = some(tmp_path)
        with pytest.raises(LedgerWholeError) as raised:
            rebuild_ledger(settings, look_only=False)
        version = world.job.ledger.state.version
        assert raised.value.message == f"the ledger is not lost: it is at version {version}, last written by run"
        assert raised.value.remedy == "nothing was changed; `cdc-bridge status CONFIG` shows why a table stands still"

    def test_two_people_who_do_it_at_the_same_time(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        world.lose()
        made = world.rebuild()
        shutil.rmtree(tmp_path / "state/ledger")
        put_in_place(world.job.state, made.state, STAMP)
        with pytest.raises(LedgerWholeError, match="somebody else has made it again"):
            put_in_place(world.job.state, made.state, Stamp("other", "host", 1, 5_000))

    def test_a_zone_that_no_ledger_has_owned(self, tmp_path: Path, settings: BridgeSettings) -> None:
        with pytest.raises(InvalidZoneError, match="no ledger has ever owned this landing zone") as raised:
            rebuild_ledger(settings, look_only=False)
        assert "`cdc-bridge adopt CONFIG` takes over the tables that another tool has filled" in raised.value.remedy
