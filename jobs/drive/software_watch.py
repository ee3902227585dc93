"""The software of a run's processes: rows that were made with other code or libraries than the driver's."""

from collections.abc import Iterable, Sequence

from core.errors import HubError, ModelError
from core.models import ModelRef, model_folder
from core.software import Software, differences, software
from jobs.drive.run import Run


class SoftwareWatch:
    """Compares what computes a stage with what its driver began with. `systems` are those of the stage.

    Their work tells what the driver has. So where another process has something else, they lose it before its rows are
    stored: no other run copies them.
    """

    def __init__(self, run: Run, systems: Sequence[str]) -> None:
        self._run = run
        self._systems = systems
        self._own = software()
        self._known: set[Software] = set()

    def look(self, reported: Iterable[Software]) -> None:
        """Check what processes have reported; an empty report says nothing.

        Raises:
            FencedError: the run is no longer this driver's.
        """
        for theirs in set(reported) - self._known:
            self._known.add(theirs)
            if theirs and (different := differences(theirs, self._own)):
                self._run.disown(self._systems, different)
                self._run.say(
                    f"Warning: a process of this run computes with {', '.join(different)}; its driver began with "
                    f"{self._own[0]} and the libraries that `nws status` names. Numbers may differ between them, and "
                    f"no other run copies those of {', '.join(self._systems) or 'this training'}. {_CURE}"
                )

    def look_at_driver(self) -> None:
        """Check this process: what it has imported meanwhile may have been written to."""
        self.look([software()])

    def look_at_models(self, models: Iterable[ModelRef]) -> None:
        """Check that the files of these models are, on this machine, what they were when the run began."""
        for ref in dict.fromkeys(models):
            try:
                model_folder(ref)
            except (HubError, ModelError) as error:
                self._run.disown(self._systems, [f"other files of {ref.name}"])
                self._run.say(
                    f"Warning: {error} They were changed while the run worked: nobody can tell with which of them a "
                    f"row was made, and no other run copies those of {', '.join(self._systems)}."
                )


_CURE = (
    "Do not edit NWS or change its commit while a run starts, install the same on every machine, and submit the run "
    "again if it matters."
)
