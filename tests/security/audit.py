"""``python -m tests.security.audit FILE``: ask a vulnerability service about the pinned dependencies.

pip-audit does the asking. It reports a package that its service does not know as skipped and calls the whole clean; a
mirror of PyPI without vulnerabilities knows none at all. So here what was not looked at is said, and never passes for
a clean result: ``NOTHING WAS AUDITED: ...``. Findings end it with 1; a service that can't be asked does not, so that
work without one goes on; ``make release-check`` (:mod:`tests.release.check_release`) lets no release pass then.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

SECONDS = 600
_SHOWN = 5


@dataclass(frozen=True)
class Audit:
    """What came of an audit.

    Attributes:
        audited: number of packages that the service was asked about and knows.
        findings: a sentence for each known vulnerability.
        unaudited: why something, or everything, was not looked at; empty if all was.
    """

    audited: int
    findings: tuple[str, ...] = ()
    unaudited: str = ""

    @property
    def code(self) -> int:
        """1 where there is a finding."""
        return 1 if self.findings else 0

    def lines(self) -> list[str]:
        """The result for a person."""
        told = list(self.findings)
        if not self.audited:
            told.append(
                f"NOTHING WAS AUDITED: {self.unaudited or 'there is no dependency'}; make release-check refuses this"
            )
        elif self.unaudited:
            told.append(f"not audited: {self.unaudited}")
        if self.audited:
            told.append(f"{self.audited} dependencies audited, {len(self.findings)} known vulnerabilities")
        return told


def read(answer: str, trouble: str = "") -> Audit:
    """The audit that pip-audit's JSON tells of.

    Args:
        answer: its standard output; not JSON where it could not finish.
        trouble: its standard error.
    """
    try:
        dependencies: list[dict[str, Any]] = json.loads(answer)["dependencies"]
    except (ValueError, KeyError, TypeError):
        said = [line.strip() for line in trouble.splitlines() if line.strip()] or ["it gave no reason"]
        return Audit(0, unaudited=f"the vulnerability service could not be asked ({said[-1][:300]})")
    skipped = [one["name"] for one in dependencies if "skip_reason" in one]
    findings = tuple(_finding(one, each) for one in dependencies for each in one.get("vulns", ()))
    audited = len(dependencies) - len(skipped)
    if dependencies and not audited:
        return Audit(0, findings, f"the vulnerability service knows none of the {len(dependencies)} dependencies")
    shown = ", ".join(skipped[:_SHOWN]) + (", ..." if len(skipped) > _SHOWN else "")
    return Audit(
        audited, findings, f"the vulnerability service does not know {len(skipped)} of them: {shown}" if skipped else ""
    )


def audit(arguments: Sequence[str]) -> Audit:
    """Run pip-audit on a lock file, whose versions are exact; further arguments are options of pip-audit."""
    file, *options = arguments
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip_audit", "--requirement", file, "--no-deps", "--disable-pip"),
            *("--format", "json", "--progress-spinner", "off", *options),
        ],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return read(done.stdout, done.stderr)


def _finding(dependency: dict[str, Any], vulnerability: dict[str, Any]) -> str:
    fixed = ", ".join(vulnerability.get("fix_versions", ())) or "no version yet"
    also = ", ".join(sorted(vulnerability.get("aliases", ())))
    known = f"{vulnerability['id']}{f' ({also})' if also else ''}"
    return f"{dependency['name']} {dependency['version']}: {known}, fixed in {fixed}"


def main(arguments: Sequence[str]) -> int:
    """Audit, say what came of it, and return the exit code."""
    result = audit(arguments)
    sys.stdout.writelines(f"{line}\n" for line in result.lines())
    return result.code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
