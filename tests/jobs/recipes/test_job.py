from jobs import cli
from jobs.recipes.job import plan_again, plan_job
from jobs.recipes.load import BUNDLED, RECIPES, recipe_class
from jobs.report.report_files import REPORTS


def test_every_job_has_what_contributing_asks_for() -> None:
    for name in RECIPES:
        assert recipe_class(name).job == name
        assert (BUNDLED / name / "sample.yaml").is_file()
    assert REPORTS.keys() == set(RECIPES)
    assert {command.name for command in cli.submit_app.registered_commands} == set(RECIPES)


def test_a_stored_recipe_plans_the_same_run_again() -> None:
    for job in RECIPES:
        planned = plan_job(job, "sample", {"datasets.limit": 2})
        again = plan_again(job, planned.recipe.model_dump(mode="json"))
        assert again.recipe == planned.recipe
        assert again.run_spec() == planned.run_spec()
