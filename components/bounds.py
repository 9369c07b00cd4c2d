"""The bound line of a walk: what is shown of what there is, which bound cut it, one button to raise, one to narrow."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from backend.models import MAX_CANDIDATES, MAX_EDGES, MAX_NODES, WalkResult
from components import address, markup, wording
from components.address import ExploreView

_CEILINGS = {"node": MAX_NODES, "edge": MAX_EDGES, "candidate": MAX_CANDIDATES}
_FEWEST = 5  # entities; fewer is no picture


def draw(walk: WalkResult, view: ExploreView) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="bounds"):
        st.html(line(walk))
        raised, narrowed = wider(walk, view), narrower(walk, view)
        if raised is not None:
            text, target = raised
            st.button(
                text, key="bound-raise", icon=":material/unfold_more:", type="tertiary", on_click=_go, args=(target,)
            )
        if narrowed is not None:
            text, target = narrowed
            st.button(
                text, key="bound-narrow", icon=":material/filter_alt:", type="tertiary", on_click=_go, args=(target,)
            )


def line(walk: WalkResult) -> markup.Html:
    """The sentence: shown of known, and each bound that cut with what it cost."""
    left_out = sum(cut.missing or 0 for cut in walk.cuts if cut.bound in ("node", "edge"))
    edges = len(walk.edges)
    of = f"{wording.number(edges)} of {'' if _all_counted(walk) else 'at least '}" if left_out else ""
    shown = f"{wording.count(len(walk.nodes), 'entity')}, {of}{wording.count(edges + left_out, 'relation')}."
    return markup.tag("div", markup.tag("b", shown), " ", markup.join(_cuts(walk), " "), css="at-bound")


def _all_counted(walk: WalkResult) -> bool:
    """Whether what the bounds left out is all that there is within these steps.

    What is cut before the last step would have led to more, a step that an earlier one kept from being taken was only
    looked into, and what is beyond the candidate bound was never read.
    """
    taken = max(node.step for node in walk.nodes)
    depth = walk.query.depth
    counted = {"node": True, "edge": taken == depth, "candidate": False}
    return all(counted[cut.bound] and cut.step == depth for cut in walk.cuts if cut.bound in counted)


def _cuts(walk: WalkResult) -> list[markup.Html]:
    cuts = walk.cuts
    sentences: list[markup.Html] = []
    hard = [bound for bound in ("node", "edge", "candidate") if any(cut.bound == bound for cut in cuts)]
    if hard:
        names = markup.join((markup.tag("b", bound) for bound in hard), " and ")
        read = next((cut for cut in cuts if cut.bound == "candidate"), None)
        more = f" {wording.count(read.read or read.value, 'relation')} read, more are stored." if read else ""
        bounds = "bound" if len(hard) == 1 else "bounds"
        sentences.append(markup.join(("Cut by the ", names, f" {bounds}: weakest left out.{more}")))
    depth = next((cut for cut in cuts if cut.bound == "depth"), None)
    if depth is not None:
        beyond = wording.count(depth.missing, "relation") if depth.missing else "More"
        at_least = "At least " if depth.missing else ""
        verb = "lies" if depth.missing == 1 else "lie"
        sentences.append(markup.escape(f"{at_least}{beyond} {verb} beyond {wording.steps(depth.value)}."))
    if not walk.edges and walk.query.relation_types and not cuts:
        types = "this type" if len(walk.query.relation_types) == 1 else "these types"
        return [markup.escape(f"No relation of {types} touches the start.")]
    return sentences or [markup.escape("Nothing is left out.")]


def wider(walk: WalkResult, view: ExploreView) -> tuple[str, ExploreView] | None:
    """What raising would say and lead to: every bound that cut doubled; else one step further, where that is cut."""
    cut = {bound for bound in walk.truncated_by if bound in _CEILINGS}
    values = {"node": view.max_nodes, "edge": view.max_edges, "candidate": view.max_candidates}
    raised = {bound: min(_CEILINGS[bound], 2 * values[bound]) for bound in cut}
    grown = {bound: value for bound, value in raised.items() if value > values[bound]}
    if grown:
        target = replace(
            view,
            max_nodes=grown.get("node", view.max_nodes),
            max_edges=grown.get("edge", view.max_edges),
            max_candidates=grown.get("candidate", view.max_candidates),
        )
        nouns = {"node": "Show {}", "edge": "Show {} relations", "candidate": "Read {}"}
        first = next(bound for bound in ("node", "edge", "candidate") if bound in grown)
        return nouns[first].format(wording.number(grown[first])), target
    if "depth" in walk.truncated_by and view.depth == 1:
        return "2 steps", replace(view, depth=2)
    return None


def way_to_more(walk: WalkResult) -> str:
    """What to do about something that is not shown."""
    if not _CEILINGS.keys().isdisjoint(walk.truncated_by):
        return "Raise the bound, or select something else."
    if "depth" in walk.truncated_by and walk.query.depth == 1:
        return "Take 2 steps, or select something else."
    return "Select something else."


def narrower(walk: WalkResult, view: ExploreView) -> tuple[str, ExploreView] | None:
    """What narrowing would say and lead to where a bound cut: half as many entities, the strongest."""
    half = len(walk.nodes) // 2
    if half < _FEWEST or _CEILINGS.keys().isdisjoint(walk.truncated_by):
        return None
    return f"Narrow to {wording.number(half)}", replace(view, max_nodes=half)


def _go(view: ExploreView) -> None:
    """A callback: the same walk within other bounds."""
    address.go_explore(view)
