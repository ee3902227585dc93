"""Every table and view, as the code has them.

Edited in place until there is a release: the tables are made from `nws.jobs.store.tables`, the views from
`nws.jobs.store.queries`, and the revision is a hash of both, see `nws.jobs.store.schema`. At the first release this
becomes `op.create_table` for each table, with a number as its revision, and later changes are revisions of their own.
"""

from alembic import op

from nws.jobs.store.queries import VIEWS
from nws.jobs.store.schema import HEAD_REVISION
from nws.jobs.store.tables import Base

revision: str = HEAD_REVISION
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    connection = op.get_bind()
    Base.metadata.create_all(connection)
    for name, select in VIEWS.items():
        connection.exec_driver_sql(f"CREATE VIEW {name} AS {select}")
