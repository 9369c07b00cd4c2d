"""How like texts are to phrases by their letters: TF-IDF over character trigrams, as traversal-based search has it."""

from __future__ import annotations

from collections.abc import Sequence

_DELETED = str.maketrans("", "", ",-./")
_SECONDARY = 0.9


def tfidf_scores(
    texts: Sequence[str], phrases: Sequence[str], *, limit: int | None = None, primary: int | None = None
) -> dict[str, float]:
    """The mean similarity of each text with the phrases, those after the first `primary` worth less.

    Of each phrase only the `limit` nearest texts count; a text that is near to none is not in the result. The values of
    the toolkit's documentation are tests.
    """
    distinct = list(dict.fromkeys(texts))
    if not distinct or not phrases:
        return {}
    count = len(distinct) if limit is None else min(limit, len(distinct))
    similarities = _similarities(distinct, phrases, count)
    if similarities is None:
        return dict.fromkeys(distinct, 0.0)
    rows: dict[str, list[float]] = {}
    for number, row in enumerate(similarities):
        weight = 1.0 if primary is None or number < primary else _SECONDARY
        nearest = sorted(range(len(distinct)), key=lambda n: (-row[n], n))[:count]
        for n in nearest:
            confidence = 1 - round(1 - row[n], 2)
            rows.setdefault(distinct[n], []).append(weight * confidence if confidence > 0 else confidence)
    return {text: sum(own) / len(own) for text, own in rows.items()}


def _similarities(texts: Sequence[str], phrases: Sequence[str], count: int) -> list[list[float]] | None:
    """A row for each phrase; None where no text is as long as a trigram. The toolkit pads the texts with empty ones."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    padded = [*texts, *([""] * max(0, count + 1 - len(texts)))]
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(3, 3), preprocessor=_plain)
    try:
        stored = vectorizer.fit_transform(padded)
    except ValueError:
        return None
    return (vectorizer.transform(phrases) @ stored.T).toarray().tolist()  # type: ignore[no-any-return]


def _plain(text: str) -> str:
    return text.lower().translate(_DELETED)
