"""The face of Ray that `ActorPool` sees, on a simulated fleet. It refuses what Ray refuses."""

import types
from collections.abc import Callable
from typing import Any

from ray.exceptions import GetTimeoutError, RayTaskError

from simulation.fleet import ActorProcess, Call, Fleet, Ref, SegmentTask
from simulation.world import Process, World

_RESOURCES = {"num_gpus", "num_cpus", "accelerator_type"}
_ACTOR_OPTIONS = {"max_restarts", "max_task_retries", "enable_task_events", *_RESOURCES}


class Session:
    """A driver's connection to Ray: what it has asked for is ended with it."""

    def __init__(self, process: Process, node: str) -> None:
        self.process = process
        self.node = node
        self.actors: list[ActorProcess] = []
        self.tasks: list[SegmentTask] = []
        self.most_refs = 0  # that it has waited for at once
        self.attentive = 0.0  # seconds that it has spent waiting for them
        self.waits_since: float | None = None


class RayFace:
    """In the place of the module `ray`: each driver sees its own session."""

    def __init__(self, world: World, fleet: Fleet) -> None:
        self._world = world
        self._fleet = fleet
        self._sessions: dict[Process, Session] = {}

    def init(self) -> Session:
        """Connect the process that runs now. Its end, by whatever cause, ends its actors a moment later."""
        process = self._world.process
        session = self._sessions[process] = Session(process, f"head of {process.name}")
        process.at_end.append(lambda: self._world.after(self._fleet.soon(), lambda: self._end(session)))
        return session

    def shutdown(self) -> None:
        """End the session of the process that runs now, with its actors."""
        self._end(self._sessions.pop(self._world.process))

    @property
    def sessions(self) -> list[Session]:
        """Those of processes that live."""
        return [session for process, session in self._sessions.items() if process.is_alive]

    def is_initialized(self) -> bool:
        # Asked by what is left of a dead driver, too, when Python collects it.
        strand = self._world.strand
        return strand is not None and strand.process.is_alive and strand.process in self._sessions

    def _session(self) -> Session:
        self._world.require_alive()
        session = self._sessions.get(self._world.process)
        assert session is not None, "Ray would start a cluster of its own here"
        return session

    def _end(self, session: Session) -> None:
        for actor in session.actors:
            actor.die("the driver has ended", self._fleet.soon())
        for task in session.tasks:
            task.cancel()

    def remote(self, actor_class: type) -> types.SimpleNamespace:
        def options(**pinned: Any) -> types.SimpleNamespace:
            assert not (strangers := pinned.keys() - _ACTOR_OPTIONS), f"no options of an actor: {strangers}"
            return types.SimpleNamespace(remote=lambda factory: self._new_actor(actor_class, factory))

        return types.SimpleNamespace(options=options)

    def _new_actor(self, actor_class: type, factory: Callable[[], object]) -> "Handle":
        session = self._session()
        actor = self._fleet.ask_for(lambda node: actor_class(factory, node))
        session.actors = [one for one in session.actors if not one.is_dead]
        session.actors.append(actor)
        return Handle(self, actor)

    def call(self, actor: ActorProcess, method: str, arguments: tuple[Any, ...]) -> Ref:
        """A method of an actor is called with one argument at most, which may be the result of a task."""
        self._session()
        (argument,) = arguments or (None,)
        call = Call(method, argument, Ref(actor))
        actor.submit(call)
        return call.ref

    def segment(self, *arguments: Any) -> Ref:
        """The Ray task before a call: `nws.cluster.article_work.segment`, with its segmenter for the first argument."""
        session = self._session()
        task = self._fleet.segment(arguments)
        session.tasks = [one for one in session.tasks if not one.ref.is_ready]
        session.tasks.append(task)
        return task.ref

    def wait(
        self, refs: list[Ref], *, num_returns: int = 1, timeout: float | None = None, fetch_local: bool = True
    ) -> tuple[list[Ref], list[Ref]]:
        session = self._session()
        if not isinstance(refs, list) or not all(isinstance(ref, Ref) for ref in refs):
            raise TypeError("wait() expected a list of ray.ObjectRef")
        if timeout is None or timeout < 0:
            raise ValueError("The 'timeout' argument must be nonnegative, and NWS never waits without one")
        if not refs:
            return [], []
        if len(refs) != len(set(refs)):
            raise ValueError("Wait requires a list of unique ray_waitables.")
        if not 0 < num_returns <= len(refs):
            raise ValueError("num_returns cannot be greater than the number of ray_waitables provided to ray.wait.")
        session.most_refs = max(session.most_refs, len(refs))
        end = self._world.now + timeout
        session.waits_since = self._world.now
        while sum(ref.is_ready for ref in refs) < num_returns and self._world.now < end:
            self._pause_for(refs, end - self._world.now)
        session.attentive += self._world.now - session.waits_since
        session.waits_since = None
        self._world.require_alive()
        ready = [ref for ref in refs if ref.is_ready][:num_returns]
        return ready, [ref for ref in refs if ref not in set(ready)]

    def _pause_for(self, refs: list[Ref], seconds: float) -> None:
        strand = self._world.strand
        assert strand is not None
        waiter = (self._world, strand)
        waited = [ref for ref in refs if not ref.is_ready]
        for ref in waited:
            ref.waiter = waiter
        self._world.pause(seconds)
        for ref in waited:
            ref.waiter = None

    def get(self, ref: Ref, timeout: float | None = None) -> Any:
        self._session()
        assert isinstance(ref, Ref)
        if not ref.is_ready and timeout == 0:
            raise GetTimeoutError("Get timed out: some object(s) not ready.")
        assert ref.is_ready, "NWS gets only what it was told is ready"
        if ref.error is None:
            return ref.value
        raise ref.error.as_instanceof_cause() if isinstance(ref.error, RayTaskError) else ref.error

    def kill(self, actor: "Handle", *, no_restart: bool = True) -> None:
        self._session()
        if not isinstance(actor, Handle):
            raise ValueError("ray.kill() only supported for actors.")
        assert no_restart
        actor.process.die("it was killed by `ray.kill`", self._fleet.soon())

    def cancel(self, ref: Ref, *, force: bool = False) -> None:
        self._session()
        if isinstance(ref.of, ActorProcess) and force:
            raise ValueError("force=True is not supported for actor tasks.")
        assert isinstance(ref.of, SegmentTask)
        ref.of.cancel()

    def get_runtime_context(self) -> types.SimpleNamespace:
        session = self._session()
        return types.SimpleNamespace(get_node_id=lambda: session.node)

    def nodes(self) -> list[dict[str, Any]]:
        session = self._session()
        silence = self._fleet.gcs_silent_until - self._world.now
        self._world.pause(max(silence, 0.0) + self._fleet.soon())
        head = {"NodeID": session.node, "Alive": True, "NodeManagerHostname": session.process.name}
        return [
            head,
            *(
                {"NodeID": node.id, "Alive": node.is_alive, "NodeManagerHostname": node.id}
                for node in self._fleet.nodes
            ),
        ]


class Handle:
    """What a driver has of an actor."""

    def __init__(self, ray: RayFace, process: ActorProcess) -> None:
        self._ray = ray
        self.process = process

    def __getattr__(self, method: str) -> types.SimpleNamespace:
        def remote(*arguments: Any) -> Ref:
            return self._ray.call(self.process, method, arguments)

        return types.SimpleNamespace(remote=remote)
