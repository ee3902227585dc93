"""What drivers found when they read the datasets of a run: a driver that resumes it need not read them again.

It is 8 bytes an article. It holds only for the code that read: other code may find other articles in the same rows.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import Connection, delete, insert, select

from jobs.store.engine import Database, reads
from jobs.store.tables import DatasetReadRow

if TYPE_CHECKING:  # with NumPy, which `nws ls` need not wait for
    from core.text.corpus import ReadBefore

PART_BYTES = 8 * 2**20
"""Of one row: databases refuse values of a gigabyte, and take long for one of a tenth of it."""


class DatasetsRead(Database):
    """The method of a store that knows what drivers read."""

    @reads
    def datasets_read(self, connection: Connection, run_id: str, code_version: str) -> "tuple[ReadBefore, ...]":
        """What was found in each dataset of a run, in their order; empty where this code has not read them yet."""
        from core.text.corpus import ReadBefore

        row = DatasetReadRow
        query = (
            select(row.dataset_number, row.revision, row.articles)
            .where(row.run_id == run_id, row.code_version == code_version)
            .order_by(row.dataset_number, row.part)
        )
        parts: dict[int, list[bytes]] = {}
        revisions: dict[int, str] = {}
        for found in connection.execute(query):
            parts.setdefault(found.dataset_number, []).append(found.articles)
            revisions[found.dataset_number] = found.revision
        return tuple(ReadBefore(revisions[number], b"".join(parts[number])) for number in sorted(parts))


def keep_read(connection: Connection, run_id: str, code_version: str, datasets: "Sequence[ReadBefore]") -> None:
    """Keep what was found in the datasets of a run, in place of what other code found in them."""
    row = DatasetReadRow
    known = connection.execute(select(row.code_version).where(row.run_id == run_id).limit(1)).scalar()
    if known == code_version:
        return
    connection.execute(delete(row).where(row.run_id == run_id))
    for number, dataset in enumerate(datasets):
        values = {"run_id": run_id, "dataset_number": number, "code_version": code_version}
        for part, start in enumerate(range(0, len(dataset.known), PART_BYTES)):
            articles = dataset.known[start : start + PART_BYTES]
            connection.execute(insert(row).values(**values, part=part, revision=dataset.revision, articles=articles))
