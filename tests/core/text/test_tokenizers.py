import functools
import importlib.metadata
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from korean_tokenizers import korean_tokenizer

from nws.core.errors import NwsError, RecipeError
from nws.core.metrics.config import Options, text_tokenizer
from nws.core.metrics.metric import Metric, Row
from nws.core.metrics.registry import make_metric
from nws.core.text import korean
from nws.core.text.korean import readable
from nws.core.text.tokenizers import TOKENIZERS, CharTokenizer, EnglishTokenizer, UnicodeTokenizer

KOREAN = ("kiwi", "mecab", "okt")
DOCTOR = "호킨스 의사는 매년 건강검진을 받는 것을 권장합니다."
# What a text may be made of, Hangul in all its forms and what breaks analysers more often than chance would have it.
TEXTS = st.one_of(
    st.text(),
    st.text("가나는ㄱㅏㅋ\u1100\u1161\u11a8aB1/.,😀\u00a0\u200b\ufeff\ud83d\udc00\0\x01\x1f \r\n\t", max_size=30),
)


def test_char_keeps_every_character_but_spaces() -> None:
    assert CharTokenizer().tokenize("한국 a.\n中") == ["한", "국", "a", ".", "中"]
    assert CharTokenizer().tokenize(unicodedata.normalize("NFD", "한국")) == ["한", "국"]


def test_mecab_cuts_as_the_study_says() -> None:
    expected = "호킨스 의사 는 매년 건강 검진 을 받 는 것 을 권장 합니다 ."
    assert korean_tokenizer("mecab").tokenize(DOCTOR) == expected.split()


def test_kiwi_gives_morphemes() -> None:
    assert korean_tokenizer("kiwi").tokenize("한국어를 좋아해요") == ["한국어", "를", "좋아하", "어요"]


@pytest.mark.parametrize("name", ["mecab", "okt"])
@given(text=TEXTS)
def test_analysers_lose_no_character(name: str, text: str) -> None:
    tokens = korean_tokenizer(name).tokenize(text)
    assert "".join("".join(tokens).split()) == "".join(readable(text).split())


@pytest.mark.parametrize("name", TOKENIZERS)
@given(text=TEXTS)
def test_any_text_is_cut_the_same_way_each_time_and_scores_one_against_itself(name: str, text: str) -> None:
    tokenizer = korean_tokenizer(name)
    tokens = tokenizer.tokenize(text)
    assert tokens == tokenizer.tokenize(text)
    assert all(token and not token.isspace() for token in tokens)
    if name == "rouge_score":  # it deletes letters
        return
    assert tokens or not any(char.isalpha() for char in text)
    row = Row(text, (text,))
    has_tokens = tokenizer.tokenize(row.prediction)  # which has another character where the text had a NUL
    assert _rouge_1(name).statistics([row]).tolist() == [[1.0] * 3 if has_tokens else [0.0] * 3]


@functools.cache
def _rouge_1(name: str) -> Metric:
    return make_metric("rouge1", Options(lang="ko", tokenizer=name))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (Options(lang="de"), "'de'.*en, ko"),
        (Options(lang="ko", tokenizer="komoran"), "'komoran'.*kiwi"),
        (Options(lang="ko", stemmer=True), "English.*'kiwi'.*Leave the stemmer out"),
    ],
)
def test_what_does_not_exist_or_go_together_is_refused(options: Options, said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        text_tokenizer(options)


def test_signatures_carry_versions() -> None:
    version = importlib.metadata.version
    assert EnglishTokenizer().signature == f"tok:rouge_score-{version('rouge_score')}|stem:no"
    assert EnglishTokenizer(stemmer=True).signature.endswith(f"|stem:porter-nltk-{version('nltk')}")
    assert korean_tokenizer("okt").signature == f"tok:okt,konlpy-{version('konlpy')},nfc|stem:no"
    assert version("kiwipiepy_model") in korean_tokenizer("kiwi").signature
    assert version("python-mecab-ko-dic") in korean_tokenizer("mecab").signature


@pytest.mark.parametrize(("name", "module"), [("kiwi", "kiwipiepy"), ("mecab", "mecab"), ("okt", "jpype")])
def test_a_missing_package_is_named(name: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    korean.load_kiwi.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(NwsError, match=rf"'{name}' needs the package {module}.*pip install kiwipiepy"):
        korean.analyser.__wrapped__(name)


def test_missing_java_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    jpype = pytest.importorskip("jpype")
    pytest.importorskip("konlpy")

    def no_java() -> str:
        raise jpype.JVMNotFoundException("No JVM shared library file (libjvm.so) found.")

    monkeypatch.setattr(jpype, "isJVMStarted", lambda: False)
    monkeypatch.setattr(jpype._core, "getDefaultJVMPath", no_java)
    monkeypatch.setattr(jpype._jpype, "isStarted", lambda: False)
    monkeypatch.setattr(jpype._core, "_JVM_started", False)
    with pytest.raises(NwsError, match=r"needs Java.*libjvm.*apt install default-jre-headless.*kiwi"):
        korean.analyser.__wrapped__("okt")


@pytest.mark.slow
def test_java_starts_when_needed_quiet_headless_and_leaving_ctrl_c_to_python() -> None:
    korean_tokenizer("okt")
    script = (
        "import os, signal, sys, time\n"
        "from nws.core.text.tokenizers import named_tokenizer\n"
        "named_tokenizer('rouge_score').tokenize('a')\n"
        "print([m for m in ('konlpy', 'jpype', 'mecab', 'kiwipiepy') if m in sys.modules])\n"
        "print(named_tokenizer('okt').tokenize('우리 생활을'))\n"
        "print(sys.modules['jpype'].JClass('java.lang.System').getProperty('java.awt.headless'))\n"
        "start = time.monotonic()\n"
        "try:\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(20)\n"
        "    print('slept')\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', time.monotonic() - start < 10)\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "['우리', '생활', '을']", "true", "interrupted True"]
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("L'école à côté, 3.5 %: STRASSE = Straße", "l école à côté 3 5 strasse strasse"),
        ("cafe\u0301 Ελλάς ΕΛΛΆΣ so\u00adfort", "café ελλάσ ελλάσ sofort"),
        ("İki köprü, Iğdır; iki", "iki köprü iğdır iki"),
        ("पुराना पुल सोमवार को बंद होगा।", "पुराना पुल सोमवार को बंद होगा"),
        ("سيغلق الجسر، می\u200cخواهم", "سيغلق الجسر میخواهم"),
        ("老桥将于2024年BBC关闭。", "老 桥 将 于 2024 年 bbc 关 闭"),
        ("ケーブルが二本、錆・々", "ケ ー ブ ル が 二 本 錆 々"),
        ("สะพานปิด ปี 12", "ส ะ พ า น ปิ ด ปี 12"),
        ("❤\ufe0f a_b", "a b"),
    ],
)
def test_unicode_keeps_the_letters_of_every_script(text: str, tokens: str) -> None:
    assert UnicodeTokenizer().tokenize(text) == tokens.split()


@given(st.text(st.characters(max_codepoint=127)))
def test_unicode_is_rouge_score_where_that_deletes_no_letter(text: str) -> None:
    assert UnicodeTokenizer().tokenize(text) == EnglishTokenizer().tokenize(text)


def test_the_unicode_signature_names_the_version_of_the_data() -> None:
    signature = make_metric("rouge1", Options(tokenizer="unicode")).signature
    assert f"tok:unicode-{unicodedata.unidata_version},nfc,casefold|stem:no" in signature
