import io
from pathlib import Path

import pytest
from prepared_articles import parameters_of
from rich.console import Console

from nws.core.learning.checkpoint import Checkpoint, Reading
from nws.core.learning.policies import make_policies
from nws.core.learning.policy_system import policy_system
from nws.core.learning.training_config import PolicyConfig
from nws.core.learning.writer import save_policies
from nws.core.metrics.config import BertScoreConfig
from nws.core.models import parse_model, resolve_model
from nws.jobs.drive import driver
from nws.jobs.recipes.job import plan_job
from nws.jobs.store import open_store


@pytest.fixture(scope="session")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of Phase 1 on six bundled articles in `nws.db`, and policies in `my-policy`."""
    folder = tmp_path_factory.mktemp("workplace")
    plan = plan_job("phase1", "sample", {"datasets.limit": 6, "n": [7, 9, 11], "importance": ["textrank"]})
    with open_store(f"sqlite:///{folder / 'nws.db'}") as store:
        driver.start(store, plan, "inline", Console(file=io.StringIO()))
    model = resolve_model(parse_model("all-MiniLM-L6-v2"))
    reading = Reading("en", "blank", model, BertScoreConfig(model, 6))
    parameters = parameters_of(make_policies(PolicyConfig(), 384, seed=1))
    checkpoint = Checkpoint("mine", PolicyConfig(), (7, 9), reading, parameters, seed=1)
    save_policies(policy_system([checkpoint]), folder / "my-policy")
    return folder
