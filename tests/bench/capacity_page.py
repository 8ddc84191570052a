"""The capacity of the bridge as a section of a page: events a second to cores, what it rests on, and what limits it."""

from __future__ import annotations

from dataclasses import replace

from tests.bench.capacity import PARTITIONS, Costs, Load, enough_partitions, table_limit, with_fewest_partitions

RATES = (10_000, 50_000, 100_000, 250_000, 500_000, 1_000_000)
TABLES = (1, 50, 1_000)
_MICRO, _MILLI = 1_000_000, 1_000


def capacity_section(costs: Costs, like: Load | None = None) -> str:
    """Everything between the marks of the capacity.

    Args:
        like: the assumptions; its rate, tables and partitions are not looked at.
    """
    like = like or Load(0)
    return "\n\n".join([cores_table(costs, like), limit_table(costs, like), assumptions(costs, like)])


def cores_table(costs: Costs, like: Load) -> str:
    """Cores of the executors by rate and number of tables, with the lag on them."""
    heads = " | ".join(f"{count:,} table{'s' if count > 1 else ''}" for count in TABLES)
    lines = [f"| events a second | {heads} |", "|---|" + "---|" * len(TABLES)]
    for rate in RATES:
        cells = " | ".join(_cell(replace(like, rate=float(rate), tables=count), costs) for count in TABLES)
        lines.append(f"| {rate:,} | {cells} |")
    return "\n".join(lines)


def limit_table(costs: Costs, like: Load) -> str:
    """What one table can carry, by its partitions."""
    limits = [table_limit(replace(like, partitions=count), costs) for count in PARTITIONS]
    enough = enough_partitions(like, costs)
    rows = [
        "| partitions of one table | " + " | ".join(str(count) for count in PARTITIONS) + " |",
        "|---|" + "---|" * len(PARTITIONS),
        "| events a second at most | " + " | ".join(f"{limit:,.0f}" for limit in limits) + " |",
    ]
    gained = (
        f"More than {enough} partitions bring one table no more than a tenth"
        if enough > 1
        else "Several partitions bring one table no more than a tenth beyond one of them, which needs no merge"
    )
    last = (
        f"{gained}: they are decoded side by side, but one task merges, encodes and uploads all of its rows, in "
        "their one order."
    )
    return "\n".join(rows) + "\n\n" + last


def assumptions(costs: Costs, like: Load) -> str:
    """What the simulation takes for given."""
    return "\n".join(
        [
            "The simulation (`tests/bench/capacity.py`) rests on these figures of the growth above, of cores like "
            "those of its machine:",
            "",
            f"- an event of a table of one partition takes {costs.event * _MICRO:.1f} microseconds of a core, Java and "
            f"worker; of a table of several {costs.read_event * _MICRO:.1f} until it is decoded, and "
            f"{costs.ordered_event * _MICRO:.1f} in the one task that writes the table;",
            f"- a batch takes the driver {costs.driver_batch * _MILLI:.0f} ms whatever is in it, and "
            f"{costs.driver_table * _MILLI:.2f} ms for each table, while no task runs; each table in a batch takes "
            f"{costs.table * _MILLI:.2f} ms of a core in tasks;",
            "",
            "and takes for given, unmeasured:",
            "",
            f"- the trigger's interval is {like.interval:g} s, and `trigger.max_offsets` is larger than what comes in "
            "it; cores are enough if no batch takes longer than the interval. The lag is from an event's record in "
            "Kafka to its file, on average, and of the event that waited longest;",
            f"- a table's, a partition's and a batch's share is up to {like.skew:.0%}, {like.skew:.0%} and "
            f"{like.burst:.0%} above or below the mean, by chance from one seed;",
            f"- publishing takes {like.requests} requests of {like.request * _MILLI:.0f} ms for each table, "
            f"{like.threads} at a time; uploads go on beside the other tasks' work;",
            "- events are as in the growth's records: 16 columns, JSON of 0.8 KB; brokers, network and storage keep "
            "up; cores do not slow each other down; the driver has a core of its own beside these.",
        ]
    )


def _cell(load: Load, costs: Costs) -> str:
    found = with_fewest_partitions(load, costs)
    if found is None:
        return f"no: {bottleneck(replace(load, partitions=PARTITIONS[-1]), costs)}"
    with_partitions, outcome = found
    partitions = f"{with_partitions.partitions} partition{'s' if with_partitions.partitions > 1 else ''} each"
    cores = f"{outcome.cores:,} core{'s' if outcome.cores > 1 else ''}"
    return f"{cores}, {partitions}, lag {outcome.lag:.0f} s, at most {outcome.worst:.0f} s"


def bottleneck(load: Load, costs: Costs) -> str:
    """What keeps a load from being carried on any number of cores."""
    driver = costs.driver_batch + load.tables * costs.driver_table + load.storage
    if driver >= load.interval:
        return f"the driver alone takes {driver:.0f} s of each batch"
    return "a table's rows are written by one task"
