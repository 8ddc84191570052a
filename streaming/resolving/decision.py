"""What a person may decide about a committed file that has not got its number, and what each word is taken for."""

from __future__ import annotations

import enum
from typing import assert_never

from connectors.command_lines import command
from connectors.errors import Terminal
from connectors.landing_zone.disputed import Disputed, Trouble


class Decision(enum.StrEnum):
    """What a person says about the file; nothing of it can be proven by looking at the zone."""

    CONSUMED = "consumed"
    """The lost file was published, and the replicator has read it before it went."""
    SET_ASIDE = "set-foreign-aside"
    """The replicator has not read the other file: move it out of the folder, and publish the bridge's own."""
    KEEP = "keep-foreign"
    """The other file stays under the number, read or not; the bridge's rows land again behind it."""


class DecisionRefusedError(Terminal):
    """What a person decided about a file does not fit what lies in the zone."""


def taken_for(decision: Decision) -> str:
    """What the person vouches for, in one sentence."""
    match decision:
        case Decision.CONSUMED:
            return (
                "you vouch that the replicator has read the file: if it has not, it never gets past this number, and "
                "the file's rows and all later ones of the table are missing until `cdc-bridge resync CONFIG TABLE`"
            )
        case Decision.SET_ASIDE:
            return (
                "you vouch that the replicator has not read the other file: if it has, it does not read this number "
                "again, and the bridge's rows are missing for ever"
            )
        case Decision.KEEP:
            return (
                "the other file's rows stay in the mirror, and you vouch that they may; the bridge's own land again, "
                "as the next number"
            )
        case _:
            assert_never(decision)


def choices(trouble: Trouble) -> tuple[Decision, ...]:
    """The decisions that fit a trouble."""
    match trouble:
        case Trouble.NONE:
            return ()
        case Trouble.LOST:
            return (Decision.CONSUMED,)
        case Trouble.CONFLICT:
            return (Decision.SET_ASIDE, Decision.KEEP)
        case _:
            assert_never(trouble)


def require_fit(decision: Decision, disputed: Disputed) -> None:
    """Return if the decision may be carried out.

    Raises:
        DecisionRefusedError: it is about another trouble, or the zone shows that it is wrong.
    """
    file = disputed.file
    fitting = choices(disputed.trouble)
    if disputed.trouble is Trouble.NONE and decision is Decision.KEEP:
        raise _refused(
            disputed,
            decision,
            "no other file is under the number any more",
            "no --decide: the bridge's own file is published",
        )
    if disputed.trouble is not Trouble.NONE and decision not in fitting:
        named = " or ".join(f"--decide {one.value}" for one in fitting)
        raise _refused(disputed, decision, f"the trouble is another one ({disputed.trouble.value})", named)
    read = [copy.path for copy in disputed.foreign if copy.read]
    if decision is Decision.SET_ASIDE and read:
        raise _refused(
            disputed,
            decision,
            f"the replicator has read the other file, which lies in {read[0]}: it does not read number "
            f"{file.sequence} again",
            f"--decide {Decision.KEEP.value}",
        )


def _refused(disputed: Disputed, decision: Decision, why: str, instead: str) -> DecisionRefusedError:
    table = disputed.file.table
    return DecisionRefusedError(
        f"{decision.value} is refused: {why}",
        table=table,
        file=disputed.file.target,
        remedy=f"{command('resolve CONFIG {} --dry-run', table)} shows what is there and what fits ({instead}); or "
        f"{command('resync CONFIG {}', table)}",
    )
