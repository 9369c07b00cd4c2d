"""What every request is checked for: names that the store must know, numbers within bounds, and a question in words."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from backend.errors import Malformed
from backend.models import Scope
from backend.stores.base import GraphView

# How many known names an error lists, the nearest first, and among how many it looks for near ones.
_LISTED, _COMPARED = 20, 10_000


Names = Mapping[str, Sequence[str]]


def asked_names(scope: Scope, *, labels: Sequence[str] = (), relation_types: Sequence[str] = ()) -> Names:
    """The names in a request, by their kind."""
    return {
        "collection": scope.collections,
        "document": scope.document_ids,
        "label": tuple(labels),
        "relation type": tuple(relation_types),
    }


def check_question(text: str) -> None:
    """Raises Malformed for a blank question."""
    if not text.strip():
        raise Malformed("The question is blank.", hint="Ask in a few words, or with a whole sentence.")


def check_within(name: str, value: int, ceiling: int) -> None:
    """Raises Malformed for a number below 1 or above its ceiling."""
    if not 1 <= value <= ceiling:
        raise Malformed(f"{name} {value} is not between 1 and {ceiling}.", hint="Choose a value in that range.")


def check_names(view: GraphView, names: Names) -> None:
    """Raises Malformed for the first name that the store does not know; one query, none where nothing is named."""
    if any(names.values()):
        refuse_unknown(view, view.unknown_names(names))


def refuse_unknown(view: GraphView, unknown: Sequence[tuple[str, str]]) -> None:
    """Raises Malformed for the first of the unknown names (kind and name), with those that are known."""
    if not unknown:
        return
    kind, name = unknown[0]
    if kind == "document":
        hint = "`attest show --dataset NAME SOURCE_ID` gives the id of a document."
        raise Malformed(f"There is no document {name!r}.", hint=hint)
    catalog = view.catalog()
    known = {"collection": catalog.collections, "label": catalog.labels, "relation type": catalog.relation_types}[kind]
    raise Malformed(f"There is no {kind} {name[:200]!r}.", hint=_nearest(name, known), known=known[:_LISTED])


def _nearest(name: str, known: Sequence[str]) -> str:
    if not known:
        return "Nothing is loaded yet."
    near = difflib.get_close_matches(name[:100], known, n=5, cutoff=0.5) if len(known) < _COMPARED else []
    listed = list(dict.fromkeys([*near, *known]))[:_LISTED]
    more = f" and {len(known) - len(listed)} more" if len(known) > len(listed) else ""
    return f"There is: {', '.join(repr(other[:200]) for other in listed)}{more}."
