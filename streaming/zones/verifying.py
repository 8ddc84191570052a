"""The rules of the landing-zone format over a zone, and the ledger's where one is found; and showing what they say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from connectors.landing_zone.replay import open_zone
from connectors.landing_zone.verify import Finding, Severity, VerifyProgress, verify_zone
from streaming.wording import count_text
from streaming.zones.reading import existing_zone, ledger_of_zone, location_of, reading_storage, state_place


@dataclass(frozen=True)
class Verified:
    """What verify came to.

    Attributes:
        version: the ledger's that the zone was compared with; None when no ledger was found.
    """

    zone: str
    tables: int
    version: int | None
    findings: tuple[Finding, ...]

    @property
    def sound(self) -> bool:
        """Whether there is no problem; warnings do not count."""
        return not any(finding.severity is Severity.PROBLEM for finding in self.findings)

    def values(self) -> dict[str, object]:
        """Plain values for a program."""
        return {
            "zone": self.zone,
            "tables": self.tables,
            "ledger_version": self.version,
            "sound": self.sound,
            "findings": [
                {
                    "severity": one.severity.value,
                    "rule": one.rule.value,
                    "table": one.table,
                    "file": one.file,
                    "message": one.message,
                    "remedy": one.remedy,
                }
                for one in self.findings
            ],
        }


def verify_place(place: str, state: str | None, progress: Callable[[VerifyProgress], None] | None = None) -> Verified:
    """Judge the zone at a path or URL.

    Args:
        state: where its ledger is; None looks beside the zone, and does without where there is none.

    Raises:
        InvalidZoneError: there is no zone.
        VersionNotKeptError: there is no ledger at ``state``.
        ZoneOwnedError: the zone belongs to another ledger.
        LedgerCorruptError: the ledger cannot be read.
    """
    storage = existing_zone(place)
    ledger = ledger_of_zone(
        storage, reading_storage(location_of(state_place(place, state))), required=state is not None
    )
    zone = open_zone(storage)
    findings = verify_zone(
        zone,
        ledger=None if ledger is None else ledger.state,
        landed=() if ledger is None else ledger.landed,
        progress=progress,
    )
    return Verified(
        zone=storage.url,
        tables=len(zone.tables()),
        version=None if ledger is None else ledger.state.version,
        findings=tuple(findings),
    )


def show_verified(verified: Verified, console: Console) -> None:
    """Print the findings, problems first, and a summary."""
    ordered = sorted(verified.findings, key=lambda one: one.severity is not Severity.PROBLEM)
    for one in ordered:
        style = "bold red" if one.severity is Severity.PROBLEM else "yellow"
        where = one.file or one.table or verified.zone
        console.print(
            Text.assemble((f"{one.severity:<8}", style), (f"{where} ", "bold"), f"({one.rule}) {one.message}")
        )
        console.print(Text(f"        What to do: {one.remedy}"))
    console.print(Text(verified_text(verified), style="bold"))


def verified_text(verified: Verified) -> str:
    """One line about the zone as a whole."""
    problems = sum(one.severity is Severity.PROBLEM for one in verified.findings)
    warnings = len(verified.findings) - problems
    compared = "no ledger found beside the zone (--state names it)"
    if verified.version is not None:
        compared = f"compared with the ledger's version {verified.version}"
    found = f"{count_text(problems, 'problem')}, {count_text(warnings, 'warning')}"
    return f"{count_text(verified.tables, 'table')}: {found}; {compared}"
