"""Machines, and what runs on them: actors and the tasks that segment. All that Ray would start, and all that dies."""

import itertools
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ray import exceptions as ray_errors

from nws.cluster.article_work import SegmentedBundle, Segmenter, segment_bundle
from nws.core.article import Article
from nws.core.errors import DeviceError
from simulation.chance import Fate, Hazards
from simulation.world import Strand, World

Waiter: TypeAlias = tuple[World, Strand]


class Ref:
    """What will become of a call or a task; `of` is the actor or the task."""

    __slots__ = ("error", "is_ready", "of", "then", "value", "waiter")

    def __init__(self, of: "ActorProcess | SegmentTask") -> None:
        self.of = of
        self.is_ready = False
        self.value: Any = None
        self.error: ray_errors.RayError | None = None
        self.waiter: Waiter | None = None
        self.then: list[Callable[[], None]] = []

    def resolve(self, value: Any = None, error: ray_errors.RayError | None = None) -> None:
        """The first answer counts."""
        if self.is_ready:
            return
        self.is_ready, self.value, self.error = True, value, error
        if self.waiter is not None:
            world, strand = self.waiter
            world.wake(strand)
        for call in self.then:
            call()
        self.then.clear()


@dataclass(eq=False, slots=True)
class Node:
    """A machine, or one life of it: when it comes back it has another id. It has room for so many actors."""

    id: str
    slots: int
    speed: float
    is_alive: bool = True
    is_draining: bool = False
    actors: "list[ActorProcess]" = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Call:
    """A call of an actor; its argument may be the Ref of a task."""

    method: str
    argument: Any
    ref: Ref
    is_answered: bool = False  # by the actor; the answer may still be on its way

    def ready_argument(self) -> Any:
        return self.argument.value if isinstance(self.argument, Ref) else self.argument

    @property
    def dependency(self) -> Ref | None:
        return self.argument if isinstance(self.argument, Ref) else None


class ActorProcess:
    """An actor: it waits for a machine, and works off its calls in the order of sending."""

    def __init__(self, fleet: "Fleet", make: Callable[[Node], Any]) -> None:
        self._fleet = fleet
        self._make = make
        self.node: Node | None = None
        self.is_dead = False
        self.has_lost_device = False
        self.calls: deque[Call] = deque()
        self.idle_since: float | None = None
        self._on_the_way: list[Call] = []
        self._instance: Any = None
        self._is_busy = False
        self._is_noticed = False  # that it is dead
        self._unanswered: list[Call] = []

    def begin(self, node: Node) -> None:
        """Its machine has room for it."""
        self.node = node
        node.actors.append(self)
        self._instance = self._make(node)
        self._advance()

    def submit(self, call: Call) -> None:
        if self.is_dead and not self._is_noticed:
            self._unanswered.append(call)
            self._fleet.strike_with(call)
            return
        if self.is_dead:
            # Its driver cannot tell that from a death of this very call, once the call's segments are there.
            self._fleet.strike_with(call)
            self._fleet.world.after(self._fleet.soon(), lambda: call.ref.resolve(error=_died("it is dead")))
            return
        self.idle_since = None
        self.calls.append(call)
        self._advance()

    def _advance(self) -> None:
        if self.is_dead or self.node is None or self._is_busy:
            return
        if not self.calls:
            self.idle_since = self._fleet.world.now
            return
        call = self.calls[0]
        before = call.dependency
        if before is not None and not before.is_ready:
            before.then.append(self._advance)
            return
        self._is_busy = True
        if before is not None and before.error is not None:
            lost = task_error(call.method, before.error)
            self._fleet.world.after(self._fleet.soon(), lambda: self._answer(call, error=lost))
            return
        fate = self._fleet.hazards.fate(call.method, _articles(call), self)
        self._fleet.world.after(fate.seconds, lambda: self._meet(call, fate))

    def _meet(self, call: Call, fate: Fate) -> None:
        """What happens at the end of a call, if the actor is still there."""
        if self.is_dead:
            return
        if fate.end == "dies":
            self.die("its process was killed", self._fleet.soon())
        elif fate.end == "dies after":  # the work is done, and nobody hears of it
            call.is_answered = True
            self.die("its process was killed", self._fleet.soon())
        elif fate.end == "unavailable":
            self._fleet.strike(_articles(call))
            call.ref.resolve(error=ray_errors.ActorUnavailableError("the connection was reset", None))
            self._answer(call)
        elif fate.end == "device" or self.has_lost_device:
            self.has_lost_device = True
            self._fleet.strike(_articles(call))
            self._fleet.device_errors += 1
            lost = task_error(call.method, DeviceError("CUDA error: an illegal memory access was encountered"))
            self._answer(call, error=lost)
        elif fate.end == "done":
            argument = call.ready_argument()
            value = getattr(self._instance, call.method)(*(() if argument is None else (argument,)))
            self._answer(call, value)
        else:
            assert fate.end == "hangs"

    def _answer(self, call: Call, value: Any = None, error: ray_errors.RayError | None = None) -> None:
        if self.is_dead:
            return
        assert self.calls.popleft() is call
        call.is_answered = True
        self._on_the_way.append(call)

        def arrive() -> None:
            if call in self._on_the_way:
                self._on_the_way.remove(call)
                call.ref.resolve(value, error)

        self._fleet.world.after(self._fleet.soon(), arrive)
        self._is_busy = False
        self._advance()

    def die(self, reason: str, noticed_after: float, preempted: bool = False) -> None:
        """All calls without an answer fail once it is noticed; an answer on its way may be lost, or not."""
        if self.is_dead:
            return
        self.is_dead = True
        world = self._fleet.world
        self._fleet.loading_deaths += any(call.method == "build" for call in self.calls)
        if self.calls:
            self._fleet.strike_with(self.calls[0])
        lost = [call for call in self._on_the_way if world.random.random() < 0.3]
        self._on_the_way = [call for call in self._on_the_way if call not in lost]
        for call in lost:
            self._fleet.strike(_articles(call))
        error = _died(reason, preempted)
        unbegun_too = world.random.random() < 0.5  # Ray has done both with calls whose segments are not there yet
        self._unanswered, self.calls = [*lost, *self.calls], deque()

        def notice() -> None:
            self._is_noticed = True
            for call in self._unanswered:
                before = call.dependency
                if before is None or before.is_ready or unbegun_too:
                    call.ref.resolve(error=error)
                else:
                    before.then.append(lambda call=call: call.ref.resolve(error=error))

        world.after(noticed_after, notice)
        self._fleet.left(self)


class SegmentTask:
    """A Ray task that segments a bundle."""

    def __init__(self, fleet: "Fleet", segmenter: Segmenter, bundle: Sequence[Article], end: str) -> None:
        self.ref = Ref(self)
        self._fleet = fleet

        def finish() -> None:
            if end != "done":
                fleet.strike(bundle)
            if end == "dies":
                self.ref.resolve(error=ray_errors.WorkerCrashedError())
            elif end == "lost":  # with the machine that had it
                self.ref.resolve(error=ray_errors.ObjectLostError("ab", None, ""))
            else:
                self.ref.resolve(segment_bundle(segmenter, bundle))

        fleet.world.after(fleet.hazards.segmenting_seconds(), finish)

    def cancel(self) -> None:
        """A task that has ended is left as it is."""
        self._fleet.world.after(self._fleet.soon(), lambda: self.ref.resolve(error=ray_errors.TaskCancelledError()))


class Fleet:
    """The machines of a cluster, and who runs there or waits for room.

    `strikes` counts, of each article, the deaths of actors that were at its bundle or whose answer was lost.
    """

    def __init__(self, world: World, hazards: Hazards, segmenter: Segmenter) -> None:
        self.world = world
        self.hazards = hazards
        self.nodes: list[Node] = []
        self.gcs_silent_until = 0.0
        self.strikes: Counter[str] = Counter()
        self.loading_deaths = self.device_errors = 0
        self._segmenter = segmenter
        self._waiting: deque[ActorProcess] = deque()
        self._ids = (f"node-{number}" for number in itertools.count())

    @property
    def actors(self) -> list[ActorProcess]:
        """Those that have a machine."""
        return [actor for node in self.nodes if node.is_alive for actor in node.actors]

    def soon(self) -> float:
        """How long a message takes."""
        return self.world.random.uniform(0.001, 0.2)

    def strike(self, articles: Sequence[Article]) -> None:
        self.strikes.update(article.id for article in articles)

    def strike_with(self, call: Call) -> None:
        """Strike the articles of a call once they are segmented."""
        before = call.dependency
        if before is not None and not before.is_ready:
            before.then.append(lambda: self.strike(_articles(call)))
        else:
            self.strike(_articles(call))

    def ask_for(self, make: Callable[[Node], Any]) -> ActorProcess:
        actor = ActorProcess(self, make)
        self._waiting.append(actor)
        self.world.after(self.soon(), self._place)
        return actor

    def segment(self, arguments: tuple[Any, ...]) -> SegmentTask:
        (bundle,) = arguments
        return SegmentTask(self, self._segmenter, bundle, self.hazards.segmenting_end(bundle))

    def left(self, actor: ActorProcess) -> None:
        """It runs no more: another one has room."""
        if actor.node is not None:
            actor.node.actors.remove(actor)
        self.world.after(self.soon(), self._place)

    def _place(self) -> None:
        room = [node for node in self.nodes if node.is_alive and not node.is_draining]
        for node in room:
            while len(node.actors) < node.slots and self._waiting:
                actor = self._waiting.popleft()
                if not actor.is_dead:
                    actor.begin(node)

    def add_node(self, slots: int, speed: float) -> Node:
        node = Node(next(self._ids), slots, speed)
        self.nodes = [one for one in self.nodes if one.is_alive] + [node]
        self._place()
        return node

    def end_node(self, node: Node, comes_back_after: float | None) -> None:
        """A machine dies with all that it runs; a while later it may be there again."""
        if not node.is_alive:
            return
        node.is_alive = False
        for actor in list(node.actors):
            actor.die("because its node has died.", self.world.random.uniform(0.2, 20.0), node.is_draining)
        if comes_back_after is not None:
            self.world.after(comes_back_after, lambda: self.add_node(node.slots, node.speed))


def _articles(call: Call) -> Sequence[Article]:
    argument = call.ready_argument()
    return [found.article for found in argument.articles] if isinstance(argument, SegmentedBundle) else ()


def _died(reason: str, preempted: bool = False) -> ray_errors.ActorDiedError:
    error = ray_errors.ActorDiedError()
    error.error_msg = f"The actor died unexpectedly before finishing this task. The actor died: {reason}"
    error._preempted = preempted
    return error


def task_error(method: str, cause: Exception) -> ray_errors.RayTaskError:
    """As Ray makes one of what a call has raised, or of what became of its argument."""
    return ray_errors.RayTaskError(
        method, f"Traceback …\n{type(cause).__name__}: {cause}", cause, "actor", 1, "127.0.0.1"
    )
