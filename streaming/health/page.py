"""The status page: one HTML document without anything from elsewhere, and without a script."""

from __future__ import annotations

from collections.abc import Iterator

from streaming.health.html import Html, element, joined, prose, text
from streaming.health.mirroring import TroubleRow
from streaming.health.page_style import STYLE
from streaming.health.parts import Card, Notice
from streaming.health.sparkline import sparkline
from streaming.health.view import ParkedRow, StatusView, TableRow, VersionRow

REFRESH_SECONDS = 10
NOTHING = "\N{EN DASH}"


def page(view: StatusView) -> str:
    """The document; it loads itself again every :data:`REFRESH_SECONDS`."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="refresh", content=REFRESH_SECONDS),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="robots", content="noindex"),
        element("link", rel="icon", href="data:,"),
        element("title", f"{view.source}: {view.headline}"),
        element("style", Html(STYLE)),
    )
    body = element("body", element("main", joined(_sections(view))), _foot(view))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _sections(view: StatusView) -> Iterator[Html]:
    detail = view.detail[:1].upper() + view.detail[1:]
    yield element(
        "header",
        element("div", element("h1", view.source), element("p", detail, class_="detail"), class_="name"),
        element("p", element("span", class_="dot", aria_hidden="true"), view.headline, class_=f"state {view.tone}"),
    )
    yield from (_notice(notice) for notice in view.notices)
    yield element("section", *(_card(card) for card in view.cards), class_="cards", aria_label="Figures")
    if view.parked:
        yield element(
            "section",
            element("h2", "Tables that stand still"),
            *(_parked(row) for row in view.parked),
        )
    if view.unmirrored:
        yield element(
            "section",
            element("h2", "Tables in trouble in the mirrored database"),
            *(_unmirrored(row) for row in view.unmirrored),
        )
    yield _tables(view)
    yield _versions(view)


def _notice(notice: Notice) -> Html:
    remedy = element("p", element("b", "What to do: "), prose(notice.remedy)) if notice.remedy else ""
    more = element("p", f"More: {notice.more}", class_="note") if notice.more else ""
    told = element("p", prose(notice.text))
    return element("section", element("h2", notice.title), told, remedy, more, class_=f"notice {notice.tone}")


def _card(card: Card) -> Html:
    return element(
        "div",
        element("h2", card.label),
        element("p", card.value, class_="value"),
        element("p", card.note, class_="note"),
        sparkline(card.line, card.label) if card.line else "",
        class_=f"card {card.tone}",
    )


def _parked(row: ParkedRow) -> Html:
    return element(
        "article",
        element("h3", row.table, element("code", row.reason, class_="reason")),
        element("p", prose(row.message)),
        element("p", element("b", "What to do: "), prose(row.remedy)),
        element("p", f"Stopped at {row.place}; {row.skipped} passed over since.", class_="note"),
        class_="parked",
    )


def _unmirrored(row: TroubleRow) -> Html:
    return element(
        "article",
        element("h3", row.table, element("code", row.cause, class_="reason")),
        element("p", prose(row.message)),
        element("p", element("b", "What to do: "), prose(row.remedy)),
        class_="parked",
    )


def _tables(view: StatusView) -> Html:
    if not view.tables:
        return element("section", element("h2", "Tables"), element("p", "None is known yet.", class_="empty"))
    mirrored = any(row.mirrored for row in view.tables)
    heads = ("Table", "State", "Waiting", "Offsets behind", "Rows", "Last file", "Published") + (
        ("Mirrored",) if mirrored else ()
    )
    more = element("p", f"{view.left_out:,} more tables are not shown.", class_="note") if view.left_out else ""
    return element(
        "section",
        element("h2", "Tables"),
        _table(heads, [_table_cells(row, mirrored=mirrored) for row in view.tables], numbers=range(2, 8)),
        more,
    )


def _table_cells(row: TableRow, *, mirrored: bool) -> list[Html]:
    cells = [
        element("span", row.name, class_="table"),
        element("span", element("span", class_="dot", aria_hidden="true"), row.state, class_=f"state {row.tone}"),
        text(row.lag or NOTHING),
        text(row.behind or NOTHING),
        element("span", row.rows, title=row.rows_by_marker or None),
        text(row.file or NOTHING),
        text(row.when or NOTHING),
    ]
    return [*cells, text(row.mirrored or NOTHING)] if mirrored else cells


def _versions(view: StatusView) -> Html:
    title = element("h2", "Recent versions of the ledger")
    if not view.versions:
        return element("section", title, element("p", "None since this process started.", class_="empty"))
    heads = ("Version", "When", "What", "Size", "Took")
    return element("section", title, _table(heads, [_version_cells(row) for row in view.versions], numbers=(3, 4)))


def _version_cells(row: VersionRow) -> list[Html]:
    what: list[object] = [row.what]
    if row.parked:
        what.append(element("span", f"parked: {row.parked}", class_="warning"))
    return [
        element("b", row.version),
        element("span", row.ago, title=row.at),
        element("span", *what, class_="what"),
        text(row.size or NOTHING),
        text(row.took),
    ]


def _table(heads: tuple[str, ...], rows: list[list[Html]], numbers: range | tuple[int, ...]) -> Html:
    """A table that a narrow screen shows as one block per row: each cell carries its column's name."""

    def kind(index: int, cell: str = "") -> str | None:
        kinds = [*(["number"] if index in numbers else []), *(["nothing"] if cell == NOTHING else [])]
        return " ".join(kinds) or None

    return element(
        "table",
        element(
            "thead",
            element("tr", *(element("th", head, scope="col", class_=kind(at)) for at, head in enumerate(heads))),
        ),
        element(
            "tbody",
            *(
                element(
                    "tr",
                    *(element("td", cell, data_label=heads[at], class_=kind(at, cell)) for at, cell in enumerate(row)),
                )
                for row in rows
            ),
        ),
    )


def _foot(view: StatusView) -> Html:
    paths = ("metrics", "livez", "readyz", "startupz")
    return element(
        "footer",
        element("dl", *(element("div", element("dt", name), element("dd", value)) for name, value in view.facts)),
        element(
            "p",
            f"{view.at}, again every {REFRESH_SECONDS} s",
            *(element("a", f"/{path}", href=f"/{path}") for path in paths),
        ),
    )
