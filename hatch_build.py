"""What a wheel has that a checkout has elsewhere: the migrations, and the commit with the hash of its sources."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelHook(BuildHookInterface):  # type: ignore[type-arg]
    """Called by hatchling for each wheel; see `tool.hatch.build.targets.wheel.hooks.custom` in pyproject.toml."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add both. An editable installation runs from the checkout and needs neither."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from core.provenance import sources_sha256
        from jobs.installation import VERSION_FILE, described_commit

        build_data["force_include"]["alembic"] = "jobs/store/migrations"
        commit = described_commit(Path(self.root))
        if commit is not None:
            self._folder = tempfile.TemporaryDirectory()
            written = Path(self._folder.name) / VERSION_FILE
            written.write_text(f"{commit}+{sources_sha256(Path(self.root))}", encoding="utf-8")
            build_data["force_include"][str(written)] = VERSION_FILE
