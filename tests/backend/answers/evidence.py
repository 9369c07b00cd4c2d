"""Evidence for tests, made of texts."""

from __future__ import annotations

from backend.models import Document, Passage
from backend.questions import EvidenceItem
from backend.sentences import sentence_spans


def item(n: int, text: str, *, title: str = "", heading: str | None = None, whole: bool = False) -> EvidenceItem:
    """A passage as evidence; each of its sentences supports, or with `whole` none is named."""
    document = Document(id=f"d{n}", source_id=f"d{n}", dataset="t", title=title, collection="c", version=1)
    passage = Passage(
        id=f"p{n}", source_id=f"p{n}", dataset="t", text=text, document=document, position=0, heading=heading
    )
    spans = () if whole else tuple(sentence_spans(text))
    return EvidenceItem(n=n, passage=passage, sentences=spans, score=1.0, why=())


SHIPS = [
    item(1, "Meridian Freight chartered the Aurora Star in March 2021. The crew was from Manila.", title="Charters"),
    item(2, "The Aurora Star was fined 40,000 euros for an oil spill in Piraeus.", title="Port authority"),
    item(
        3, "Halden Shipping owns the vessel. It was built in 1998 and can load 1.5 million tons.", title="Aurora Star"
    ),
]
