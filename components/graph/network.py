"""A walk as a pyvis network: what is drawn and how each kind of thing looks, without the colours of a theme.

pyvis is the builder and no more: its nodes, edges and options are taken back as data. Its own page would load from a
network of others and, with a title from a document, run scripts. Names are data all the way: no `title` is ever set.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log2
from typing import TYPE_CHECKING, Any, TypeAlias

from backend.models import EdgeKind, Hidden, Status, WalkEdge, WalkNode, WalkResult
from components.graph.layout import Point
from components.graph.names import LONG, display
from components.graph.styles import LabelStyle, label_styles

if TYPE_CHECKING:
    from pyvis.network import Network

Drawing: TypeAlias = dict[str, Any]  # plain JSON: what the browser gets

NODE_SIZE, START_SIZE = 8, 12
DASHES = [4, 4]
_EVEN = {"square": 0.86, "triangle": 1.05, "triangleDown": 1.05, "diamond": 1.1, "star": 1.1}  # equal to the eye
_OPTIONS = {
    "physics": {"enabled": False},
    "layout": {"improvedLayout": False},
    # What is under the pointer is found by our own code, since it also knows the names and badges.
    "interaction": {"hover": False, "selectable": False, "keyboard": {"enabled": False}, "zoomSpeed": 0.8},
    "nodes": {"borderWidth": 1.5, "borderWidthSelected": 3, "physics": False},
    "edges": {
        "smooth": False,
        "arrows": {"to": {"scaleFactor": 0.45}},
        "color": {"inherit": False},
        "selectionWidth": 1.2,
        "hoverWidth": 0,
    },
}


def network(walk: WalkResult, places: Mapping[str, Point], labels: Iterable[str] = ()) -> Network:
    """The walk with every node at its place; `labels` fixes the order in which labels get their looks."""
    from pyvis.network import Network  # brings IPython along: not before the first graph

    looks = label_styles((node.label for node in walk.nodes), labels)
    net = Network(directed=True)  # undirected, pyvis drops the second edge between two nodes without a word
    for node in walk.nodes:
        net.add_node(**_node(node, places[node.id], looks[node.label], node.id == walk.start.id))
    # pyvis asks for both ends of every edge whether they are in its list of nodes; a mapping knows sooner.
    ids, net.node_ids = net.node_ids, net.node_map
    for edge, bend in zip(walk.edges, _bends(walk.edges), strict=True):
        net.add_edge(edge.source, edge.target, **_edge(edge, bend))
    net.node_ids = ids
    used = {node.label for node in walk.nodes}
    groups = {
        str(look.index): {"shape": look.shape, "color": look.colour, "dark": look.dark}
        for label, look in looks.items()
        if label in used
    }
    net.set_options(json.dumps(_OPTIONS | {"groups": groups}))  # pyvis takes every space out: none may matter
    return net


def drawing(walk: WalkResult, places: Mapping[str, Point], labels: Iterable[str] = ()) -> Drawing:
    """The network's data, and what stands around it: legend and a sentence in place of the picture."""
    labels = tuple(labels)
    nodes, edges, _, _, _, options = network(walk, places, labels).get_network_data()
    return {
        "start": walk.start.id,
        "summary": summary(walk),
        "legend": _legend(walk, label_styles((node.label for node in walk.nodes), labels)),
        "nodes": nodes,
        "edges": edges,
        "options": json.loads(options),
    }


def summary(walk: WalkResult) -> str:
    """What the graph shows, in a sentence, for those who do not see it."""
    stated = sum(edge.kind is EdgeKind.ASSERTION for edge in walk.edges)
    entities = len(walk.nodes)
    cut = f", cut by the {' and the '.join(walk.truncated_by)} bound" if walk.truncated_by else ""
    return (
        f"Graph: {display(walk.start.name, LONG)}, {entities} {'entity' if entities == 1 else 'entities'}, "
        f"{stated} stated relations and {len(walk.edges) - stated} that no passage states{cut}"
    )


def _node(node: WalkNode, place: Point, look: LabelStyle, is_start: bool) -> dict[str, Any]:
    options: dict[str, Any] = {
        "n_id": node.id,
        "label": display(node.name),
        "group": str(look.index),
        "shape": look.shape,
        "x": place[0],
        "y": place[1],
        "size": round((START_SIZE if is_start else NODE_SIZE) * _EVEN.get(look.shape, 1.0), 1),
        "kind": display(node.label),
    }
    if (name := display(node.name, LONG)) != options["label"]:
        options["name"] = name
    if node.hidden_relations.count:
        options |= {"suffix": _suffix(node.hidden_relations), "hidden": node.hidden_relations.count}
        options |= {} if node.hidden_relations.exact else {"atLeast": True}
    if node.status is Status.UNSUPPORTED:
        options["hollow"] = True
    return options


def _suffix(hidden: Hidden) -> str:
    return f"+{hidden.count:,}" if hidden.exact else f"+{hidden.count:,}…"


def _edge(edge: WalkEdge, bend: float) -> dict[str, Any]:
    options: dict[str, Any] = {"id": edge.id, "kind": edge.kind.value, "type": display(edge.type, 60)}
    if edge.kind is EdgeKind.ASSERTION:
        options |= {
            "label": f"{edge.counts.passages:,}",
            "width": round(min(0.9 + 0.6 * log2(1 + edge.counts.documents), 5.0), 1),
            "passages": edge.counts.passages,
            "documents": edge.counts.documents,
        }
    else:
        options |= {"width": 1, "dashes": DASHES, "arrows": {"to": {"enabled": True, "scaleFactor": 0.4}}}
    if edge.weight > 1:
        options["weight"] = edge.weight
    if bend:
        turn = "curvedCW" if bend > 0 else "curvedCCW"
        options["smooth"] = {"enabled": True, "type": turn, "roundness": round(abs(bend), 3)}
    return options


def _bends(edges: Sequence[WalkEdge]) -> list[float]:
    """How much each edge is bent, and to which side of its direction, so that those of one pair can all be clicked."""
    pairs = [(min(edge.source, edge.target), max(edge.source, edge.target)) for edge in edges]
    together = Counter(pairs)
    seen: Counter[tuple[str, str]] = Counter()
    bends: list[float] = []
    for edge, pair in zip(edges, pairs, strict=True):
        count = together[pair]
        spacing = min(0.24, 1.2 / max(count - 1, 1))
        bend = (seen[pair] - (count - 1) / 2) * spacing
        bends.append(bend if edge.source == pair[0] else -bend)
        seen[pair] += 1
    return bends


def _legend(walk: WalkResult, looks: Mapping[str, LabelStyle]) -> dict[str, Any]:
    used = Counter(node.label for node in walk.nodes)
    kinds = {edge.kind for edge in walk.edges}
    return {
        "labels": [
            {
                "name": display(label),
                "color": look.colour,
                "dark": look.dark,
                "shape": look.shape,
                "count": used[label],
            }
            for label, look in looks.items()
            if label in used
        ],
        "stated": EdgeKind.ASSERTION in kinds,
        "unstated": EdgeKind.PATH in kinds,
        "unsupported": any(node.status is Status.UNSUPPORTED for node in walk.nodes),
    }
