"""What a wheel and an sdist record: the commit that they were built from, with the hash of the sources."""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CodeVersionHook(BuildHookInterface):  # type: ignore[type-arg]
    """Called by hatchling for each distribution; see `tool.hatch.build.hooks.custom` in pyproject.toml."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the file, unless an sdist has it already. An editable installation asks git when it runs."""
        sys.path.insert(0, self.root)
        from nws.core.provenance import sources_sha256
        from nws.jobs.installation import VERSION_FILE, described_commit

        root = Path(self.root)
        if version == "editable" or (root / VERSION_FILE).is_file():
            return
        # Docker's build has no git, and is told the commit.
        commit = os.environ.get("NWS_COMMIT") or described_commit(root) or self.metadata.version
        self._folder = tempfile.TemporaryDirectory()
        written = Path(self._folder.name) / VERSION_FILE.name
        written.write_text(f"{commit}+{sources_sha256(root)}", encoding="utf-8")
        build_data["force_include"][str(written)] = str(VERSION_FILE)
