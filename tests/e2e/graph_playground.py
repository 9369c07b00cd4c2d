"""Invented walks of any size, and a page that shows one: for looking at the graph view, and for its tests.

streamlit run tests/e2e/graph_playground.py -- needs a folder `static` beside it: `ln -s ../../static tests/e2e/`
then http://127.0.0.1:8501/?nodes=100&shape=walk (or hub, or hostile)
"""

from __future__ import annotations

import random
import uuid
from dataclasses import replace

from backend.models import (
    Counts,
    EdgeKind,
    EntityView,
    Hidden,
    Status,
    WalkEdge,
    WalkNode,
    WalkQuery,
    WalkResult,
)

NAMES = {
    "Company": [
        "Meridian Freight",
        "Corven Holdings",
        "Tallow & Co",
        "Greywater Shipyard",
        "Pell & Sons",
        "Lumen Assurance",
    ],
    "Person": ["Ilse Varga", "Lina Okafor", "Anton Reyk", "Marta Lindqvist", "Priya Castellanos", "Wei Tanaka"],
    "Vessel": ["MV Halcyon", "MV Sorrel", "SS Persephone", "Tug Bramble", "MV Aurora Borealis"],
    "Port": ["Port Ostrava Bay", "Greywater Quay", "Saltmarsh Terminal", "Haven Point"],
    "Payment": ["Payment 4471", "Payment 4502", "Payment 9181", "Payment 1281"],
}
TYPES = ("charters", "owns", "directed by", "paid", "employs", "calls at", "held by", "trustee of")
HOSTILE = (
    "<img src=x onerror=\"document.title='owned'\">",
    "<a href=\"javascript:document.title='owned'\">href</a>",
    "</script><script>document.title='owned'</script>",
    "\u202eexe.png\u202d",
    "nul\x00and\x1bescape",
    "x" * 100_000,
    "",
    "\u200f\u2066\u2069",
    "two\nlines\tand a tab",
    "日本語の会社名がとても長い場合はどうなるか見てみる",
    "شركة الشحن البحري",
    "Z" + "\u0351\u036b\u0343" * 40 + "algo",
    "![](http://203.0.113.1/x.png) :red[x] {{7*7}} `code`",
)


def invented(nodes: int, *, neighbours: int | None = None, edges: int = 0, seed: int = 1) -> WalkResult:
    """A walk of so many nodes, `neighbours` of them at the first step; behind some of those hang many more."""
    chance = random.Random(seed)
    first = min(nodes - 1, neighbours if neighbours is not None else max(3, int(nodes**0.5 * 1.6)))
    ids = [str(uuid.UUID(int=chance.getrandbits(128), version=4)) for _ in range(nodes)]
    labels = ["Company", *chance.choices(list(NAMES), k=nodes - 1)]
    pairs = [
        (0 if row <= first else 1 + min(first - 1, int(chance.paretovariate(0.7)) - 1), row) for row in range(1, nodes)
    ]
    pairs += [
        tuple(chance.sample(range(nodes), 2)) for _ in range(max(edges - len(pairs), nodes // 5 if nodes > 5 else 0))
    ]
    pairs += pairs[1:3] if nodes > 5 else []  # some pairs with two relations
    return WalkResult(
        query=WalkQuery(ids[0], depth=2),
        start=EntityView(ids[0], "s0", "demo", "Meridian Freight", "Company"),
        nodes=tuple(
            WalkNode(
                id=ids[row],
                source_id=f"s{row}",
                dataset="demo",
                name=chance.choice(NAMES[labels[row]]) if row else "Meridian Freight",
                label=labels[row],
                step=0 if not row else 1 if row <= first else 2,
                status=Status.UNSUPPORTED if row % 17 == 4 else Status.SUPPORTED,
                hidden_relations=Hidden(chance.randrange(1, 60) if chance.random() < 0.25 else 0, exact=True),
            )
            for row in range(nodes)
        ),
        edges=tuple(_edge(chance, ids[a], ids[b]) for a, b in pairs),
        truncated_by=(),
        cuts=(),
        timings_ms={},
    )


def _edge(chance: random.Random, one: str, other: str) -> WalkEdge:
    passages = int(chance.paretovariate(1.1)) if chance.random() < 0.7 else 0
    return WalkEdge(
        id=str(uuid.UUID(int=chance.getrandbits(128), version=4)),
        source=one,
        target=other,
        type=chance.choice(TYPES),
        kind=EdgeKind.ASSERTION if passages else EdgeKind.PATH,
        weight=1,
        counts=Counts(passages, (passages + 1) // 2),
        passages=(),
    )


def hostile() -> WalkResult:
    """A small walk whose names, labels and types come from someone who wishes us ill."""
    walk = invented(len(HOSTILE) + 1, neighbours=len(HOSTILE))
    nodes = [replace(node, name=name, label=name) for node, name in zip(walk.nodes[1:], HOSTILE, strict=True)]
    edges = [replace(edge, type=HOSTILE[row % len(HOSTILE)]) for row, edge in enumerate(walk.edges)]
    return replace(walk, nodes=(walk.nodes[0], *nodes), edges=tuple(edges))


def within(walk: WalkResult, nodes: int) -> WalkResult:
    """The walk as a bound of so many nodes would have cut it."""
    kept = walk.nodes[:nodes]
    ids = {node.id for node in kept}
    edges = tuple(edge for edge in walk.edges if edge.source in ids and edge.target in ids)
    return replace(walk, nodes=kept, edges=edges, truncated_by=("node",) if nodes < len(walk.nodes) else ())


def page() -> None:
    import streamlit as st

    from components.graph import graph_view

    st.set_page_config(page_title="Graph", layout="wide", initial_sidebar_state=250)
    asked, state = st.query_params, st.session_state
    size, shape = int(asked.get("nodes", 15)), asked.get("shape", "walk")
    whole = hostile() if shape == "hostile" else invented(size, neighbours=size - 1 if shape == "hub" else None)
    state.setdefault("chosen", None)
    with st.sidebar:
        walk = within(
            whole, int(st.number_input("Nodes", 1, len(whole.nodes), int(asked.get("bound", len(whole.nodes)))))
        )
        if st.button("Choose the first edge"):
            state["chosen"] = walk.edges[0].id
    left, right = st.columns([2, 1], gap="small")
    with left:
        event = graph_view(walk, selected=state["chosen"], key="graph", height="calc(100vh - 60px)")
    if event is not None:
        state["chosen"] = event.id
    state["runs"] = state.get("runs", 0) + 1
    with right:
        st.text(f"event: {event.kind if event else '-'} {event.id if event else '-'}")
        st.text(f"runs: {state['runs']}")


if __name__ == "__main__":
    page()
