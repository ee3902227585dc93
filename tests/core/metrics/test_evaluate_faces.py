import evaluate
import pytest

from nws.core.errors import LanguageError
from nws.core.metrics.config import Options
from nws.core.metrics.evaluate_faces import Face, combine
from nws.core.metrics.metric import Row
from nws.core.metrics.registry import METRICS, NEED_SOURCE, make_metric
from nws.core.metrics.specs import BY_MODEL

PREDICTIONS = ["the cat sat on the mat", "shares fell in Tokyo"]
REFERENCES = [["a cat sat on a mat", "the cat is on the mat"], ["shares in Tokyo fell"]]
SOURCES = ["the cat sat on the mat all day", "shares fell"]


def expected(name: str, references: list[list[str]], options: Options | None = None) -> dict[str, float]:
    metric = make_metric(name, options)
    rows = [Row(p, tuple(r), s) for p, r, s in zip(PREDICTIONS, references, SOURCES, strict=True)]
    score = metric.score(metric.statistics(rows)).tolist()
    return (
        {name: score[0]}
        if len(score) == 1
        else dict(zip((f"{name}_{part}" for part in metric.parts), score, strict=True))
    )


@pytest.mark.parametrize("name", [name for name in METRICS if name not in BY_MODEL])
def test_the_registrys_numbers(name: str) -> None:
    face = Face(name)
    assert isinstance(face, evaluate.Metric)
    assert (face.name, face.signature) == (name, make_metric(name).signature)
    sources = {"sources": SOURCES} if name in NEED_SOURCE else {}
    several = face.compute(predictions=PREDICTIONS, references=REFERENCES, **sources)
    assert several == pytest.approx(expected(name, REFERENCES), abs=1e-6)
    first = [references[0] for references in REFERENCES]
    one = face.compute(predictions=PREDICTIONS, references=first, **sources)
    assert one == pytest.approx(expected(name, [[text] for text in first]), abs=1e-6)


def test_combined() -> None:
    names = ["rouge1", "rougeL", "bleu", "density"]
    found = combine(names).compute(predictions=PREDICTIONS, references=REFERENCES, sources=SOURCES)
    for name in names:
        assert expected(name, REFERENCES).items() <= found.items()
    assert len(found) == 3 + 3 + 1 + 1


def test_korean_needs_its_tokenizer() -> None:
    korean = {"predictions": ["고양이가 있다"], "references": ["고양이가 있다"]}
    for name in ("rouge1", "bleu", "meteor"):
        with pytest.raises(LanguageError, match="language `ko`"):
            Face(name).compute(**korean)
    assert Face("rouge1", Options(lang="ko", tokenizer="char")).compute(**korean)["rouge1_f1"] == 1
