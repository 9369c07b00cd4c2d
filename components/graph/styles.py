"""How labels look: a colour and a shape each, told apart by colour-blind readers and on both backgrounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#8E5EA2", "#B8860B")
# The same on a dark background: blue and purple are lighter there, or thin outlines could not be made out.
DARK_PALETTE = ("#2F93D1", "#D55E00", "#009E73", "#B183C6", "#B8860B")
SHAPES = ("dot", "square", "diamond", "triangle", "hexagon", "star", "triangleDown")  # as vis-network calls them


@dataclass(frozen=True, slots=True)
class LabelStyle:
    """Two labels share neither colour nor shape until there are more than five, and never both before the 36th."""

    index: int
    colour: str
    dark: str
    shape: str


def label_styles(labels: Iterable[str], known: Iterable[str] = ()) -> Mapping[str, LabelStyle]:
    """The look of each label. Labels in `known` (say, all of the store, in its order) look the same in every walk."""
    ordered = dict.fromkeys(known)
    ordered |= dict.fromkeys(sorted(label for label in set(labels) if label not in ordered))
    return {
        label: LabelStyle(
            index, PALETTE[index % len(PALETTE)], DARK_PALETTE[index % len(PALETTE)], SHAPES[index % len(SHAPES)]
        )
        for index, label in enumerate(ordered)
    }
