"""Archives unpacked with any Python that the project promises to run on."""

from __future__ import annotations

import tarfile
from pathlib import Path


def unpack(archive: Path, folder: Path) -> None:
    """Put what a tar archive of any compression holds into ``folder``, which is made where it is missing.

    No member may leave the folder. Python before 3.11.4 has no such filter (Debian 12 has 3.11.2); what is unpacked
    there is pinned by its digest or was made by this project.
    """
    with tarfile.open(archive) as packed:
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        for member in packed:
            packed.extract(member, folder)
