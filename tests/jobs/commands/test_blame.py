"""What is wrong with a flag is said of the flag, with what may have been meant."""

import pytest

SUBMIT = ("submit", "baselines", "--dry-run")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            (*SUBMIT, "--system", "textrnk"),
            ("there is no system 'textrnk'. Did you mean 'textrank'? The baselines", "(--system)"),
        ),
        ((*SUBMIT, "--system", "lead", "--system", "lead"), ("two systems are called 'lead'", "(--system)")),
        ((*SUBMIT, "--n", "7,0"), ("n: should be greater than or equal to 1, not 0", "(--n)")),
        ((*SUBMIT, "--recipe", "smaple"), ("Did you mean 'sample'?", "(--recipe)")),
        (("submit", "phase2", "--system", "leed"), ("'leed' is not one of", "(--system)")),
        (("submit", "phase1", "--bertscore-model", "nothing"), ("There is no model 'nothing'", "(--bertscore-model)")),
        (("submit", "phase1", "--dataset", "smple"), ("no dataset 'smple'", "Did you mean 'sample'?")),
        (
            (*SUBMIT, "--set", "endpoint.concurency=4"),
            ("endpoint.concurency: unknown key; this part of a recipe has: base_url", "Did you mean 'concurrency'?"),
        ),
        ((*SUBMIT, "--set", "seed"), ("--set takes a key and a value, such as seed=0, not 'seed'",)),
    ],
)
def test_the_flag_is_named(nws, tmp_path, arguments: tuple[str, ...], said: tuple[str, ...]) -> None:
    result = nws(*arguments)
    assert result.code in (1, 2)
    told = " ".join(result.err.split())
    assert [one for one in said if one not in told] == [], told
    assert "The recipe" not in told
    assert list(tmp_path.iterdir()) == []


def test_a_recipe_is_blamed_for_what_is_its_own(nws, tmp_path) -> None:
    (tmp_path / "mine.yaml").write_text("datasets: [{name: sample}]\nencoder: nothing\nsystems: [lead]\n")
    told = nws(*SUBMIT, "--recipe", "mine.yaml", "--n", "0").err
    assert "The recipe 'mine.yaml' is not usable:" in told
    assert "encoder: There is no model 'nothing'" in told
    assert "n.0: should be greater than or equal to 1" in told
