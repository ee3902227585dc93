from documents import TEXT, document, segmented

from core.systems.extractive_baselines import Lead, Lead3
from core.systems.system import Draft


def test_lead_is_the_text_as_it_stands() -> None:
    texts = [draft.text for draft in Lead().summarize(document(), [3, 5, 99])]
    assert texts == ["Alpha beta met", "Alpha beta met gamma. Then", TEXT]


def test_lead3_is_three_sentences_uncut_and_cut() -> None:
    article = segmented("One two.\n\nThree 'four' -- five.\nSix. Seven eight nine. Ten.")
    drafts = Lead3().summarize(document(article), [2, 6])
    cut = [Draft(2, "One two."), Draft(6, "One two. Three 'four' five. Six.")]
    assert drafts == [Draft(0, "One two. Three 'four' -- five. Six."), *cut]


def test_lead3_of_a_short_beginning_goes_on_with_what_follows() -> None:
    (_, draft) = Lead3().summarize(document(segmented("One. Two. Three. Four five. Six.")), [5])
    assert draft == Draft(5, "One. Two. Three. Four five.")
    (uncut, draft) = Lead3().summarize(document(segmented("One two.")), [5])
    assert (uncut.text, draft.text) == ("One two.", "One two.")
