"""Making a committed file again from Kafka, and proving that it is the same.

A file's rows depend on nothing but the records of its range, the state that the ledger had before it, and the settings
(architecture, "The ledger", point 7). So the same functions land the range once more, into a folder that goes away, and
the order-sensitive digest of the rows has to be the one that the ledger has bound to the number. Where it is not, the
settings are others by now or a record is gone, and nothing is taken.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from connectors.command_lines import command
from connectors.debezium.decoder import Decoder
from connectors.debezium.events import RawRecords
from connectors.debezium.wire import SchemaLookup
from connectors.errors import Terminal
from connectors.kafka.config import KafkaConfig
from connectors.kafka.raw import read_records
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.state import LandedFile
from connectors.landing_zone.storage.local import LocalStorage
from streaming.driver.batch import land_range
from streaming.lifecycle.catching_up import require_records
from streaming.lifecycle.outside import Ranges
from streaming.lifecycle.side import land_records
from streaming.plan import BatchPlan, JobOptions
from streaming.resolving.origin import Origin
from streaming.task.results import Results
from streaming.task.worker import Worker

ReadRange = Callable[[Ranges], Iterable[RawRecords]]
"""The records of ranges, each partition's together and in offset order."""


class NotRemadeError(Terminal):
    """A lost file cannot be made again from Kafka's records, or came out otherwise than it was committed."""


@dataclass(frozen=True)
class Kafka:
    """What making a file again needs of Kafka.

    Attributes:
        topics: describes those of the topics that exist, by name.
        read: reads ranges; may be called more than once.
        schemas: the schema registry; None where no record is Avro.
    """

    topics: Callable[[Sequence[str]], Mapping[str, TopicDescription]]
    read: ReadRange
    schemas: Callable[[], SchemaLookup | None]


@contextmanager
def remade(file: LandedFile, origin: Origin, job: JobOptions, kafka: Kafka) -> Iterator[tuple[Path, LandedFile]]:
    """The file once more: where it lies on the local disk within the block, and as the ledger is to know it.

    Nothing is written but in a temporary folder, and no dead letter is sent: those of the range were when it passed.

    Raises:
        NotRemadeError: Kafka does not hold the range any more, or what it holds comes to other rows.
        Transient: Kafka or the schema registry cannot be asked now.
    """
    with tempfile.TemporaryDirectory(prefix="cdc-bridge-resolve-") as folder:
        scratch = LocalStorage(Path(folder))
        try:
            require_records(origin.ranges, kafka.topics(sorted(origin.ranges)), file.table)
            worker = Worker(job, Decoder(job.decode, kafka.schemas()), scratch, settles=False)
            draft, _ = land_range(job, origin.before, origin.ranges, _action(origin.ranges, kafka, worker), origin.only)
        except Terminal as error:
            raise not_remade(file, error.message) from error
        found = draft.files.get(file.table)
        if found is None:
            raise not_remade(file, "Kafka's records of its range make no file of the table any more")
        if _rows(found) != _rows(file):
            raise not_remade(
                file,
                f"made again from version {origin.version}'s range it has {sum(found.rows.values())} rows with the "
                f"digest {found.logical}, instead of {sum(file.rows.values())} with {file.logical}",
            )
        yield Path(folder) / found.staged, found


def kafka_reader(config: KafkaConfig, timeout: float) -> ReadRange:
    """Reads ranges of real topics with a consumer that joins no group.

    Args:
        timeout: seconds without any progress until it gives up.
    """

    def read(ranges: Ranges) -> Iterator[RawRecords]:
        for topic, planned in sorted(ranges.items()):
            for partition, (start, end) in sorted(planned.partitions.items()):
                yield from read_records(config, topic, partition, start, end, timeout=timeout)

    return read


def _action(ranges: Ranges, kafka: Kafka, worker: Worker) -> Callable[[BatchPlan], Results]:
    return lambda plan: land_records(plan, kafka.read(ranges), worker)


def _rows(file: LandedFile) -> tuple[object, ...]:
    return file.generation, file.sequence, file.schema, file.rows, file.logical


def not_remade(file: LandedFile, why: str) -> NotRemadeError:
    """The error of a lost file that Kafka does not make again, and why."""
    table = file.table
    return NotRemadeError(
        f"File {file.sequence} of the table is lost and cannot be made again from Kafka: {why}",
        table=table,
        file=file.target,
        staged=file.staged,
        remedy=f"{command('resync CONFIG {}', table)}; or put the file back from a backup under its staged name and "
        f"{command('resolve CONFIG {}', table)}; or, only if the replicator had read it before it went, "
        f"{command('resolve CONFIG {} --decide consumed', table)}",
    )
