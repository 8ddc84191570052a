"""What a disk does not let a command do, from the error through its remedy to a table that streams."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from connectors.landing_zone.errors import StorageDeniedError, TableResetError
from connectors.landing_zone.layout import SCRATCH_PAD
from connectors.landing_zone.storage.local import LocalStorage
from tests.remedies.broken_zones import require_health, stands
from tests.remedies.lost_files import landed_twice, pending, started
from tests.remedies.plain_user import as_plain_user
from tests.remedies.shell import require_refused
from tests.remedies.site import Site
from tests.unit.streaming.rebuild_world import NAME

pytestmark = pytest.mark.kafka

CHECK = "cdc-bridge check CONFIG"
VERIFY = "cdc-bridge verify ZONE --state STATE"
RUN = "cdc-bridge run CONFIG --once"
RESYNC = f"cdc-bridge resync CONFIG {NAME}"
RESOLVE = f"cdc-bridge resolve CONFIG {NAME}"

RIGHTS = "give the bridge's user the right to read, write and list there"


def test_storage_denied_without_the_right_to_read(world: Site, tmp_path: Path) -> None:
    place = tmp_path / "zone" / "public.schema" / "orders"
    place.chmod(0o000)
    refused = as_plain_user(lambda: world.shell.type(VERIFY))
    require_refused(refused, StorageDeniedError, RIGHTS, "file: public.schema/orders", "Permission denied")
    place.chmod(0o700)
    assert as_plain_user(lambda: world.shell.type(VERIFY)).code == 0
    require_health(world)


def test_storage_denied_without_the_right_to_write(site: Site, tmp_path: Path) -> None:
    """As `check` says it, and the command that has to write."""
    landed_twice(site)
    file = pending(site)
    site.zone.write(file.staged, site.zone.files.pop(file.target))
    place = tmp_path / "zone" / "public.schema" / "orders"
    place.chmod(0o500)
    refused = as_plain_user(lambda: site.shell.type(RESOLVE))
    require_refused(refused, StorageDeniedError, RIGHTS, f"file: {file.staged}", "Permission denied")
    place.chmod(0o700)
    pad = tmp_path / "zone" / SCRATCH_PAD
    pad.chmod(0o500)
    looked = as_plain_user(lambda: site.shell.type(CHECK))
    assert (looked.code, RIGHTS in looked.told, f"[file={SCRATCH_PAD}" in looked.out) == (1, True, True), looked
    pad.chmod(0o700)
    assert as_plain_user(lambda: site.shell.type(CHECK)).code == 0
    assert as_plain_user(lambda: site.shell.type(RESOLVE)).code == 0
    require_health(site)


def test_storage_denied_of_a_hard_link_to_another_user_s_file(site: Site, tmp_path: Path) -> None:
    """A bridge of another user has staged it; the system lets nobody else make a link to it."""
    landed_twice(site)
    file = pending(site)
    site.zone.write(file.staged, site.zone.files.pop(file.target))
    os.chown(tmp_path / "zone" / file.staged, 65534, 65534)
    refused = as_plain_user(lambda: site.shell.type(RESOLVE))
    owned = "use a file system with hard links (ext4, xfs, ...) and let the bridge's user own its files"
    require_refused(refused, StorageDeniedError, owned, f"file: {file.staged}", "Operation not permitted")
    os.chown(tmp_path / "zone" / file.staged, os.getuid(), os.getgid())
    assert as_plain_user(lambda: site.shell.type(RESOLVE)).code == 0
    require_health(site)


def test_storage_denied_of_a_file_that_takes_a_folder_s_place(world: Site, tmp_path: Path) -> None:
    """Somebody has put a file where the table's folder was, which a resync removes."""
    place = tmp_path / "zone" / "public.schema" / "orders"
    place.rename(tmp_path / "aside")
    place.write_bytes(b"not ours")
    world.place = LocalStorage(tmp_path / "zone")
    started(world)
    assert RESYNC in stands(world, TableResetError).replace(str(world.config), "CONFIG")
    assert world.shell.type(f"{RESYNC} --no-wait").code == 0
    world.run = lambda: world.driver().do_chores()
    refused = world.shell.type(RUN)
    away = "look who has put a file in the place of the table's folder, and move it away"
    require_refused(refused, StorageDeniedError, away, "file: public.schema/orders")
    assert place.read_bytes() == b"not ours"
    place.rename(tmp_path / "theirs")
    assert world.shell.follow(refused.remedy, "run").code == 0
    world.run = None
    require_health(world)


def test_storage_denied_without_the_right_to_look_into_the_scratch_pad(world: Site, tmp_path: Path) -> None:
    """`check` tells it in the storage's words, and not as an error that it does not know."""
    pad = tmp_path / "zone" / SCRATCH_PAD
    pad.chmod(0o000)
    looked = as_plain_user(lambda: world.shell.type(CHECK))
    assert (looked.code, RIGHTS in looked.told) == (1, True), looked
    pad.chmod(0o700)
    assert as_plain_user(lambda: world.shell.type(CHECK)).code == 0
    require_health(world)
