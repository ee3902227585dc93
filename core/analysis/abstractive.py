"""Finds systems that may write words of their own. Content kept cannot see whether what they say is true."""

import numpy as np

from nws.core.analysis.points import Points
from nws.core.findings.content import Abstractive
from nws.core.metrics.specs import Metric
from nws.core.systems.extractive_baselines import BASELINES

COVERAGE: Metric = "coverage"
FAITHFULNESS: Metric = "faithfulness"
_COVERAGE_OF_EXTRACTS = 0.9995
"""The mean coverage from which on a system is assumed to copy. For every extract it is 1."""


def abstractive(points: Points) -> tuple[Abstractive, ...]:
    """Find the systems that may write words of their own, by dataset and system; none where coverage was not read."""
    if COVERAGE not in points.scores:
        return ()
    names = sorted({dataset for dataset, _ in points.articles})
    dataset_of = np.array([names.index(dataset) for dataset, _ in points.articles], np.int32)[points.article]
    found = []
    for s, (system, kind) in enumerate(zip(points.systems, points.kinds, strict=True)):
        for i in range(len(names)) if kind == "system" else ():
            own = (points.system == s) & (dataset_of == i)
            uncut = bool((points.n[own] == 0).any())
            chosen = own & (points.n == 0) if uncut else own
            scores = {metric: values[chosen] for metric, values in points.scores.items()}
            means = {metric: float(np.nanmean(of)) for metric, of in scores.items() if not np.isnan(of).all()}
            # A text from elsewhere that has only words of the article may still say something else than the article.
            if COVERAGE in means and (means[COVERAGE] < _COVERAGE_OF_EXTRACTS or (uncut and system not in BASELINES)):
                found.append(Abstractive(names[i], system, means[COVERAGE], means.get(FAITHFULNESS)))
    return tuple(sorted(found, key=lambda own: (own.dataset, own.system)))
