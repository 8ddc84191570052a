"""What PostgreSQL's catalog shows of the mirrored tables, decided from what it answers and in which order."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import pytest

from connectors.landing_zone.ledger.state import Relation
from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.relations import DatabaseIdentity, LogEnd
from streaming.lifecycle.catalog_look import Gone, Look, Mirrored, Missing, Renamed, Replaced, Seen, look

SHOP = "77/5/00000001"
ORDERS, USERS = DatabaseTable("public", "orders"), DatabaseTable("public", "users")
PRIMARY, STANDBY = DatabaseIdentity("shop", SHOP), DatabaseIdentity("shop", SHOP, standby=True)
END = LogEnd(1_000, 5)


def known(oid: int = 11, renamed: str = "") -> Relation:
    return Relation(SHOP, oid, renamed)


def orders(relation: Relation | None, database: str = "shop") -> Mirrored:
    return Mirrored("public.orders", 1, database, ORDERS, relation)


@dataclass
class Server:
    """A server's catalog; whatever is asked is noted.

    Attributes:
        meanwhile: what happens right behind a question, by its name; once.
        named: columns by number, of each OID.
    """

    relations: dict[int, DatabaseTable] = field(default_factory=dict)
    database: DatabaseIdentity = PRIMARY
    transactions: frozenset[int] = frozenset()
    meanwhile: dict[str, Callable[[], None]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    named: dict[int, dict[int, str]] = field(default_factory=dict)

    def identity(self) -> DatabaseIdentity:
        return self.database

    def tables(self, names: Collection[DatabaseTable], oids: Collection[int]) -> dict[int, DatabaseTable]:
        found = {oid: table for oid, table in self.relations.items() if oid in oids or table in names}
        self._then("tables")
        return found

    def columns(self, oids: Collection[int]) -> dict[int, dict[int, str]]:
        self._then("columns")
        return {oid: self.named[oid] for oid in oids if oid in self.named}

    def log_end(self) -> LogEnd:
        self._then("log_end")
        return END

    def running(self) -> frozenset[int]:
        running = self.transactions
        self._then("running")
        return running

    def _then(self, question: str) -> None:
        self.asked.append(question)
        self.meanwhile.pop(question, lambda: None)()


class TestThere:
    def test_a_table_is_known_from_the_first_look_on_at_which_it_is_there(self) -> None:
        one = orders(None)
        assert look(Server({11: ORDERS}), [one], {}) == Look((Seen(one, known()),), {})
        assert look(Server({12: USERS}), [one], {}) == Look((), {}), "nothing is known of it that could be missing"

    def test_nothing_is_said_of_a_table_that_is_there_as_it_was(self) -> None:
        server = Server({11: ORDERS})
        assert look(server, [orders(known())], {}) == Look((), {})
        assert server.asked == ["tables"]

    def test_tables_of_another_database_are_not_looked_for(self) -> None:
        server = Server()
        assert look(server, [orders(known(), database="crm")], {}) == Look()
        assert server.asked == []

    @pytest.mark.parametrize("before", ["66/5/00000001", "77/4/00000001", "77/5/00000002"])
    @pytest.mark.parametrize("oid", [11, 12])
    def test_in_another_database_of_the_same_name_nothing_is_concluded(self, oid: int, before: str) -> None:
        one = orders(Relation(before, 11))
        assert look(Server({oid: ORDERS}), [one], {}) == Look((Seen(one, known(oid)),), {})
        assert look(Server({11: USERS}), [one], {}) == Look((), {}), "an OID of one database means nothing in another"

    def test_a_standby_is_not_looked_into(self) -> None:
        server = Server(database=STANDBY)
        assert look(server, [orders(known())], {}) == Look(standby=True)
        assert server.asked == []


class TestRenamed:
    @pytest.mark.parametrize("now", [USERS, DatabaseTable("archive", "orders")])
    def test_a_table_under_another_name_or_schema_is_renamed(self, now: DatabaseTable) -> None:
        one = orders(known())
        assert look(Server({11: now}), [one], {}) == Look((Renamed(one, known(renamed=str(now))),), {})

    def test_it_is_told_once_for_each_new_name(self) -> None:
        one = orders(known(renamed="public.users"))
        assert look(Server({11: USERS}), [one], {}) == Look((), {})
        other = DatabaseTable("public", "clients")
        assert look(Server({11: other}), [one], {}).findings == (Renamed(one, known(renamed="public.clients")),)

    def test_one_that_has_its_name_again_is_seen_with_the_logs_end_behind_that(self) -> None:
        one, server = orders(known(renamed="public.users")), Server({11: ORDERS})
        assert look(server, [one], {}) == Look((Seen(one, known(), end=END),), {})
        assert server.asked == ["tables", "log_end"]

    def test_one_that_is_dropped_under_its_new_name_is_not_this_names_any_more(self) -> None:
        server = Server()
        assert look(server, [orders(known(renamed="public.users"))], {}) == Look((), {})
        assert server.asked == ["tables"]


class TestReplaced:
    @pytest.mark.parametrize("others", [{}, {11: USERS}])
    def test_another_table_of_the_name_has_replaced_it(self, others: dict[int, DatabaseTable]) -> None:
        one = orders(known())
        assert look(Server({12: ORDERS, **others}), [one], {}) == Look((Replaced(one, known(12), END),), {})

    def test_also_one_that_was_renamed_before(self) -> None:
        one = orders(known(renamed="public.users"))
        assert look(Server({11: USERS, 12: ORDERS}), [one], {}).findings == (Replaced(one, known(12), END),)

    def test_the_logs_end_is_read_once_and_behind_the_look_that_shows_it(self) -> None:
        server = Server({12: ORDERS, 14: USERS})
        other = Mirrored("public.users", 1, "shop", USERS, known(13))
        found = look(server, [orders(known()), other], {}).findings
        assert found == (Replaced(orders(known()), known(12), END), Replaced(other, known(14), END))
        assert server.asked == ["tables", "log_end"]


class TestGone:
    def test_a_drop_is_placed_at_the_logs_end_behind_a_look_without_it_and_before_another_one(self) -> None:
        server, one = Server(), orders(known())
        assert look(server, [one], {}) == Look((Gone(one, END),), {})
        assert server.asked == ["tables", "log_end", "running", "running", "tables"]

    def test_not_while_a_transaction_runs_that_may_take_the_name(self) -> None:
        server, one = Server(transactions=frozenset({7})), orders(known())
        first = look(server, [one], {})
        assert first == Look((), {"public.orders": Missing(known(), END, frozenset({7}))})
        server.transactions = frozenset({7, 8})
        assert look(server, [one], first.missing or {}) == first
        server.transactions = frozenset({8, 9})
        assert look(server, [one], first.missing or {}) == Look((Gone(one, END),), {})

    def test_a_name_that_such_a_transaction_has_taken_has_no_place_where_the_drop_was(self) -> None:
        server, one = Server(transactions=frozenset({7})), orders(known())
        first = look(server, [one], {})
        server.transactions, server.relations = frozenset(), {12: ORDERS}
        assert look(server, [one], first.missing or {}) == Look((Replaced(one, known(12), END),), {})

    def test_nor_one_that_is_taken_between_the_two_looks(self) -> None:
        server, one = Server(), orders(known())
        server.meanwhile["running"] = lambda: server.relations.update({12: ORDERS})
        left = look(server, [one], {})
        assert left == Look((), {"public.orders": Missing(known(), END, frozenset())})
        assert look(server, [one], left.missing or {}) == Look((Replaced(one, known(12), END),), {})

    def test_one_that_is_there_again_is_not_missing_any_more(self) -> None:
        one = orders(known())
        waiting = {"public.orders": Missing(known(), END, frozenset({7}))}
        assert look(Server({11: ORDERS}), [one], waiting) == Look((), {})

    def test_what_was_missing_of_an_earlier_table_of_the_name_does_not_count(self) -> None:
        one = orders(known(12))
        before = Missing(known(11), LogEnd(1, 1), frozenset())
        assert look(Server(), [one], {"public.orders": before}) == Look((Gone(one, END),), {})

    def test_each_has_the_place_of_its_own_first_look(self) -> None:
        one = orders(known())
        other = Mirrored("public.users", 1, "shop", USERS, known(12))
        early = LogEnd(500, 4)
        waiting = {"public.orders": Missing(known(), early, frozenset({7}))}
        assert look(Server(), [one, other], waiting) == Look((Gone(one, early), Gone(other, END)), {})
