"""The sentences of findings: for each check, what the texts have, and what to do about it.

A sentence continues "5 of 14 rows of news.jsonl", and for references "5 of 14 articles of news.jsonl have references
that". {such} stands for an example, and {detail} for more that a check says.
"""

_NARROW = "Confidence intervals become too narrow. Write one row with a list of references."
_CUT_OUT = "Systems take them for news. Remove what is not part of the article."
_WITH = "with nws submit or nws score"

SENTENCES = {
    "html": f"contain HTML{{such}}. To remove it, use --clean-texts html {_WITH}.",
    "marks": f"contain marks between sentences{{such}}. To remove them, use --clean-texts marks {_WITH}.",
    "ptb": f"contain tokens of the Penn Treebank{{such}}. To remove them, use --clean-texts ptb {_WITH}.",
    "subwords": "are split into the tokens of a tokenizer{such}. Decode them with that tokenizer.",
    "special_tokens": "contain special tokens of a model{such}. Decode with skip_special_tokens=True.",
    "ligatures": "contain ligatures, as PDF files do{such}. Normalise them to NFKC.",
    "hyphens": "contain words that were hyphenated at the end of a line{such}. Join their parts.",
    "escapes": "contain escaped characters{such}. Decode them.",
    "mojibake": "were read in a wrong encoding{such}. Read the original as UTF-8, or repair the texts with ftfy.",
    "bbcode": "contain BBCode{such}. Remove the tags.",
    "formulas": "contain placeholders for formulas and citations{such}. They count as words.",
    "no_words": "have no word{such}. An article without words fails, and a prediction scores 0 or nearly so.",
    "placeholder": "are placeholders for a missing text{such}. Leave the field empty.",
    "language": "look like another language than {detail}{such}. "
    "An article in another script fails, but a prediction is still scored.",
    "beginning": f"begin with the same words{{such}}. {_CUT_OUT}",
    "end": f"end with the same words{{such}}. {_CUT_OUT}",
    "same_text": f"repeat the text of an earlier article{{such}}. {_NARROW}",
    "same_prediction": f"repeat an earlier one for the same article{{such}}. {_NARROW}",
    "several_references": "have several references{such}. "
    f"The best one counts. If they are the sentences of one reference, use --join-references {_WITH}.",
    "common_reference": "other articles have, too{such}. If this text stands for a missing reference, remove it.",
    "begins_article": "repeat the beginning of their article, or all of it{such}. "
    "This favours lead. Check the reference field.",
    "lower_cased": "have no capital letter{such}. Few names in them are recognized. Use references with capitals.",
    "shifted_references": "fit the {detail} article better than their own{such}. "
    "Check that each reference is in the row of its own article.",
    "cut_thoughts": "end within their thoughts{such}. They fail in a run, and score 0 in nws score. Raise max_tokens.",
    "thoughts": "contained the thoughts of a model{such}. Only the text after them is scored.",
    "opening": f"begin with the same words{{such}}. To remove a preamble, use --clean-outputs preamble {_WITH}.",
    "markdown": f"contain Markdown{{such}}. To remove it, use --clean-outputs markup {_WITH}.",
    "common_prediction": "are the same text{such}. Check how they were produced.",
    "repeats_article": "repeat their article{such}. Remove the prompt from the model's output.",
    "samples": "are lists that look like samples{such}. "
    f"Each list is read as one text. To read its first item, use --list-predictions first {_WITH}.",
}
