from jobs import cli
from jobs.plan.job import JOBS
from jobs.recipes.load import BUNDLED
from jobs.report.by_job import REPORTS


def test_every_job_has_what_contributing_asks_for() -> None:
    for name, job in JOBS.items():
        assert job.recipe.job == name
        assert (BUNDLED / name / "sample.yaml").is_file()
    assert REPORTS.keys() == JOBS.keys()
    assert {command.name for command in cli.submit_app.registered_commands} == JOBS.keys()


def test_a_stored_recipe_plans_the_same_run_again() -> None:
    for job in JOBS.values():
        planned = job.plan("sample", {"limit": 2})
        again = job.plan_again(planned.recipe.model_dump(mode="json"), "run")
        assert again.recipe == planned.recipe
        assert again.run_spec() == planned.run_spec()
