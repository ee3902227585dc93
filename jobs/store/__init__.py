"""The store of runs and results, in SQLite or Postgres."""

from jobs.store.address import DEFAULT_STORE as DEFAULT_STORE
from jobs.store.checkpoints import CurveRow as CurveRow
from jobs.store.checkpoints import GreedyReward as GreedyReward
from jobs.store.checkpoints import PolicyCheckpoint as PolicyCheckpoint
from jobs.store.checkpoints import PolicyInfo as PolicyInfo
from jobs.store.checkpoints import RoundResult as RoundResult
from jobs.store.query import Answer as Answer
from jobs.store.results import SWEEP as SWEEP
from jobs.store.results import FailureInfo as FailureInfo
from jobs.store.results import Stage as Stage
from jobs.store.reuse import Reusable as Reusable
from jobs.store.reuse import StageWork as StageWork
from jobs.store.runs import FinalState as FinalState
from jobs.store.runs import LogLine as LogLine
from jobs.store.runs import RunInfo as RunInfo
from jobs.store.runs import RunSpec as RunSpec
from jobs.store.runs import new_run_id as new_run_id
from jobs.store.schema import HEAD_REVISION as HEAD_REVISION
from jobs.store.schema import current_revision as current_revision
from jobs.store.schema import upgrade_schema as upgrade_schema
from jobs.store.store import Store as Store
from jobs.store.store import open_store as open_store
