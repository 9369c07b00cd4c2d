"""Where the nodes of a walk stand: computed here, so that the browser has nothing to settle and nothing ever drifts.

A walk is a start with what surrounds it, so it is laid out around its start: each node of the first step gets a sector
as wide as what hangs on it. A small graph is then pulled into shape by its own links; in a large one whatever hangs on
a node fills a disc around it. In the end boxes around node and name push each other apart, until (as far as a few
rounds can) no two overlap. One unit is one pixel at zoom 1. Nothing here draws lots: the same walk gets the same
picture everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from backend.models import WalkEdge, WalkNode
from components.graph.names import display, width

Point: TypeAlias = tuple[float, float]
_Floats: TypeAlias = NDArray[np.float64]
_Ints: TypeAlias = NDArray[np.intp]
_Bools: TypeAlias = NDArray[np.bool_]

_NOWHERE: Mapping[str, Point] = MappingProxyType({})
_SHAPED = 160  # nodes; up to here links pull the picture into shape, beyond it discs are tidier (and faster)
_ROOMY = 60  # nodes; up to here whole names have room
_LINK = 105.0  # the length that a link of a small graph wants
_ON_RING = 11  # nodes with names that fit around one node at that distance
_BELOW = 9.0  # a name stands below its node, so the box around both has its middle this much lower
_GOLDEN = np.pi * (3 - np.sqrt(5))


@dataclass(frozen=True, slots=True)
class _Graph:
    """A walk in arrays: nodes by their place in the walk, the start first."""

    links: _Ints  # (m, 2), each pair once
    parents: _Ints  # the node that each was reached from; the start is its own
    depth: _Ints
    half: _Floats  # (n, 2), half the width and height of the box around node and name

    @property
    def size(self) -> int:
        return len(self.parents)


def positions(
    nodes: Sequence[WalkNode],
    edges: Sequence[WalkEdge],
    start: str,
    aspect: float,
    previous: Mapping[str, Point] = _NOWHERE,
) -> dict[str, Point]:
    """A place for every node, in a field about `aspect` times as wide as high with the start at (0, 0).

    Nodes in `previous` keep their place, to the bit; the others find a free one near the node they hang on.
    """
    ordered = sorted(nodes, key=lambda node: node.id != start)
    if not ordered:
        return {}
    aspect = min(max(aspect, 0.4), 3.0)
    graph = _arrays(ordered, edges)
    held = np.array([node.id in previous for node in ordered])
    fresh = not held.any()
    if not fresh:
        known = {row: previous[node.id] for row, node in enumerate(ordered) if held[row]}
        places = _beside(graph, known, held)
    else:
        places = _bubbles(graph) if graph.size > _SHAPED or _is_hub(graph) else _shape(graph, _rings(graph))
        places = _widest_across(places) * np.array([aspect**0.5, aspect**-0.5])
        held[0] = True
    places = _apart(graph, places, held, aspect)
    if fresh:
        places = _filling(graph, places, aspect)
    return {
        node.id: previous.get(node.id) or (round(float(x), 1), round(float(y), 1))
        for node, (x, y) in zip(ordered, places, strict=True)
    }


def _arrays(nodes: Sequence[WalkNode], edges: Sequence[WalkEdge]) -> _Graph:
    rows = {node.id: row for row, node in enumerate(nodes)}
    pairs = {
        (min(a, b), max(a, b))
        for edge in edges
        if (a := rows.get(edge.source)) is not None and (b := rows.get(edge.target)) is not None and a != b
    }
    links = np.array(sorted(pairs), dtype=np.intp).reshape(-1, 2)
    depth = np.array([node.step for node in nodes], dtype=np.intp)
    depth[0] = 0
    parents = np.zeros(len(nodes), dtype=np.intp)
    for a, b in sorted(pairs, reverse=True):  # of several that are nearer to the start, the first stays
        if depth[a] < depth[b]:
            parents[b] = a
        elif depth[b] < depth[a]:
            parents[a] = b
    if len(nodes) > _SHAPED:  # most names show only after zooming in, so there is room for some
        half = np.tile([15.0, 13.0], (len(nodes), 1))
    else:
        widest = 52.0 if len(nodes) > _ROOMY else 200.0  # the browser, too, cuts names where it gets narrow
        half = np.array([[min(width(_with_count(node)) / 2, widest) + 7, 20.0] for node in nodes])
    return _Graph(links, parents, depth, half)


def _with_count(node: WalkNode) -> str:
    return display(node.name) + (" +999" if node.hidden_relations.count else "")


# --- a fresh picture -------------------------------------------------------------------------------------------------


def _rings(graph: _Graph) -> _Floats:
    """A circle per step around the start, with sectors as wide as what hangs on a node, in the order of links."""
    order = _around(graph)
    angles = _angles(graph, order)
    places: _Floats = np.column_stack([np.cos(angles), np.sin(angles)]) * (graph.depth * _LINK)[:, None]
    return places


def _angles(graph: _Graph, order: _Ints) -> _Floats:
    """The middle of each node's sector; a sector is as wide as the number of nodes in it, its own included."""
    weights = np.ones(graph.size)
    for node in order[:0:-1]:
        weights[graph.parents[node]] += weights[node]
    left = np.zeros(graph.size)  # where a node's sector starts, in shares of the circle
    share = np.ones(graph.size)
    filled = np.zeros(graph.size)
    for node in order[1:]:
        parent = graph.parents[node]
        share[node] = share[parent] * weights[node] / (weights[parent] - 1)
        left[node] = left[parent] + filled[parent]
        filled[parent] += share[node]
    middle: _Floats = (left + share / 2) * 2 * np.pi
    return middle


def _around(graph: _Graph) -> _Ints:
    """The nodes, parents before children, with children that are linked next to each other."""
    near: list[list[int]] = [[] for _ in range(graph.size)]
    for a, b in graph.links.tolist():
        if a:  # not through the start, which is linked to everything
            near[a].append(b)
            near[b].append(a)
    seen, walked = {0}, []
    for first in range(1, graph.size):
        stack = [first]
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                walked.append(node)
                stack.extend(reversed(near[node]))
    place = {node: rank for rank, node in enumerate(walked)}
    children: list[list[int]] = [[] for _ in range(graph.size)]
    for node in sorted(walked, key=place.__getitem__):
        children[graph.parents[node]].append(node)
    order = [0]
    for node in order:
        order.extend(children[node])
    return np.array(order, dtype=np.intp)


def _shape(graph: _Graph, places: _Floats) -> _Floats:
    """Pull and push until distances are about those along the links (stress majorization, the start held)."""
    if graph.size < 2:
        return places
    steps = _distances(graph)
    wanted = steps * _LINK
    reach = _reach(graph)
    rows = np.arange(1, graph.size)
    wanted[rows, graph.parents[1:]] = wanted[graph.parents[1:], rows] = reach[1:]
    np.fill_diagonal(wanted, 1.0)
    weight = 1.0 / steps.clip(1.0) ** 2
    np.fill_diagonal(weight, 0.0)
    total = weight.sum(axis=1, keepdims=True)
    for _ in range(60):
        across = places[:, None, :] - places[None, :, :]
        length = np.hypot(across[..., 0], across[..., 1])
        np.fill_diagonal(length, 1.0)
        pull = weight * wanted / length.clip(1.0)
        places = (weight @ places + (pull[..., None] * across).sum(axis=1)) / total
        places = places - places[0]
    return places


def _reach(graph: _Graph) -> _Floats:
    """How long the link to each node's parent wants to be: in turns longer where there are too many."""
    children = np.bincount(graph.parents[1:], minlength=graph.size)
    reach = np.full(graph.size, _LINK)
    turn = np.zeros(graph.size, dtype=np.intp)
    for node in _around(graph)[1:].tolist():
        parent = graph.parents[node]
        rings = 1
        while children[parent] > _ON_RING * rings * (rings + 1) / 2:
            rings += 1
        reach[node] = _LINK * ((1.0 if rings == 1 else 1.25) + 0.62 * (turn[parent] % rings))
        turn[parent] += 1
    return reach


def _distances(graph: _Graph) -> _Floats:
    """Steps along links between any two nodes; at most four in a walk of depth two, and five where none leads."""
    linked = np.eye(graph.size, dtype=np.float32)
    linked[graph.links[:, 0], graph.links[:, 1]] = linked[graph.links[:, 1], graph.links[:, 0]] = 1.0
    steps = np.full((graph.size, graph.size), 5.0)
    reach = linked
    for step in range(1, 5):
        steps = np.where((reach > 0) & (steps == 5.0), float(step), steps)
        reach = (reach @ linked > 0).astype(np.float32)
    np.fill_diagonal(steps, 0.0)
    return steps


def _is_hub(graph: _Graph) -> bool:
    """More neighbours than links can order, and little behind them."""
    neighbours = int(np.count_nonzero(graph.parents == 0)) - 1
    return neighbours > 5 * _ON_RING and graph.size < 1.5 * neighbours


def _bubbles(graph: _Graph) -> _Floats:
    """For many nodes: whatever hangs on a node lies around it as in a sunflower, these discs packed around the start.

    The largest discs come first and each lies where there is room for it, near the start and toward its sector; so
    the field is filled evenly, with single nodes in the gaps and at the rim.
    """
    order = _around(graph)
    angles = _angles(graph, order)
    dense = 0.7 if graph.size <= _SHAPED else 0.95  # boxes of names push each other apart well enough
    space = dense * 2.0 * float(np.sqrt(graph.half[1:].prod(axis=1).mean()))
    children = np.bincount(graph.parents[1:], minlength=graph.size)
    radii = space * 0.56 * np.sqrt(children + 1.0)
    first = order[1:][graph.parents[order[1:]] == 0]
    first = first[np.argsort(-children[first], kind="stable")]
    places = np.zeros((graph.size, 2))
    radii[0] = 2.2 * space
    spots = _sunflower(4 * graph.size + 500, space * 0.8)
    far = np.hypot(spots[:, 0], spots[:, 1])
    free = far - radii[0]
    turned = np.arctan2(spots[:, 1], spots[:, 0])
    for node in first.tolist():
        fits = np.flatnonzero(free >= radii[node])
        if len(fits):
            band = fits[far[fits] <= far[fits[0]] + radii[node] + space]
            off = np.abs((turned[band] - angles[node] + np.pi) % (2 * np.pi) - np.pi)
            places[node] = spots[band[np.argmin(off)]]
        free = np.minimum(free, np.hypot(*(spots - places[node]).T) - radii[node])
    turn = np.zeros(graph.size, dtype=np.intp)
    petals = _sunflower(int(children.max(initial=0)) + 1, space)
    for node in order[len(first) + 1 :].tolist():
        parent = graph.parents[node]
        turn[parent] += 1
        places[node] = places[parent] + petals[turn[parent]]
    return places


def _sunflower(count: int, space: float) -> _Floats:
    """Points about `space` apart that fill a disc from its middle."""
    number = np.arange(count)
    spots: _Floats = np.column_stack([np.cos(number * _GOLDEN), np.sin(number * _GOLDEN)])
    return spots * (space * 0.56 * np.sqrt(number))[:, None]


def _widest_across(places: _Floats) -> _Floats:
    """Turned around the start so that the longest side lies across the pane, which is wider than it is high."""
    spread = places - places.mean(axis=0)
    angle = 0.5 * np.arctan2(2 * (spread[:, 0] * spread[:, 1]).sum(), (spread[:, 0] ** 2 - spread[:, 1] ** 2).sum())
    cosine, sine = np.cos(-angle), np.sin(-angle)
    turned: _Floats = places @ np.array([[cosine, sine], [-sine, cosine]])
    return turned


# --- added to a picture ----------------------------------------------------------------------------------------------


def _beside(graph: _Graph, known: Mapping[int, Point], held: _Bools) -> _Floats:
    """New nodes in a fan behind the node they hang on, seen from the start; around the start itself, in a spiral."""
    places = np.zeros((graph.size, 2))
    for row, point in known.items():
        places[row] = point
    added: dict[int, list[int]] = {}
    for node in np.argsort(graph.depth, kind="stable").tolist():
        if not held[node]:
            added.setdefault(int(graph.parents[node]), []).append(node)
    for parent, children in added.items():  # in the order of steps, so a parent has its place before its children
        away = places[parent] - places[graph.parents[parent]]
        outward = float(np.arctan2(away[1], away[0]))
        for count, node in enumerate(children):
            turn, reach = _spiral(count) if parent == 0 else _fan(count, len(children))
            angle = outward + turn
            places[node] = places[parent] + reach * np.array([np.cos(angle), np.sin(angle)])
    return places


def _spiral(count: int) -> tuple[float, float]:
    return count * _GOLDEN, _LINK * (1.0 + 0.27 * float(np.sqrt(count)))


def _fan(count: int, of: int) -> tuple[float, float]:
    """The turn and the length of one of so many links: rows of five, seven, nine ... behind each other."""
    row, first, size = 0, 0, 5
    while count >= first + size:
        row, first, size = row + 1, first + size, size + 2
    size = min(size, of - first)
    width = min(0.9 * np.pi, 0.5 * (size - 1))
    turn = width * ((count - first) / max(size - 1, 1) - 0.5) if size > 1 else 0.0
    return float(turn), _LINK * (0.8 + 0.55 * row)


# --- room for all ----------------------------------------------------------------------------------------------------


def _apart(graph: _Graph, places: _Floats, held: _Bools, aspect: float) -> _Floats:
    """Boxes of nodes and names push each other apart; on small graphs they also leave the lines of other nodes."""
    places = places.copy()
    rounds = 90 if graph.size <= _SHAPED else 30
    clear = graph.size <= _ROOMY and len(graph.links) <= 3 * _ROOMY
    for turn in range(rounds):
        spread = np.ptp(places, axis=0) + 2 * graph.half.mean(axis=0)
        bias = float(spread[0] / spread[1]) / aspect  # over 1: too wide already, so rather push up and down
        push, touching = _crowding(graph, places, held, bias)
        if clear and turn < rounds - 10:
            push += _off_lines(graph, places)
        push[held] = 0.0
        if not touching and float(np.abs(push).max(initial=0.0)) < 0.5:
            break
        places += push
    return places


def _filling(graph: _Graph, places: _Floats, aspect: float) -> _Floats:
    """Drawn out to the pane's shape, along the side that is too short: what lay apart lies further apart."""
    across, down = np.ptp(places, axis=0) + 2 * graph.half.mean(axis=0)
    drawn: _Floats = places * np.array([down * aspect / across, across / aspect / down]).clip(1.0, 1.6)
    return drawn


def _crowding(graph: _Graph, places: _Floats, held: _Bools, bias: float) -> tuple[_Floats, bool]:
    """How far every box must give way, half of each overlap, along the side where that is less."""
    order = np.argsort(places[:, 1], kind="stable")  # from top to bottom: only boxes near in this list can touch
    x, y = places[order].T
    wide, high = graph.half[order].T
    fixed = held[order]
    push = np.zeros_like(places)
    touching = False
    for offset in range(1, graph.size):
        down = y[offset:] - y[:-offset]
        if float(down.min()) >= 2 * float(high.max()):
            break
        across = x[offset:] - x[:-offset]
        near = (down < high[offset:] + high[:-offset] - 0.01) & (np.abs(across) < wide[offset:] + wide[:-offset] - 0.01)
        one = np.flatnonzero(near)
        if not len(one):
            continue
        other = one + offset
        touching = touching or not bool((fixed[one] & fixed[other]).all())
        size = np.column_stack([wide[one] + wide[other], high[one] + high[other]])
        apart = np.column_stack([across[one], down[one]])
        overlap = size - np.abs(apart)
        sideways = overlap[:, 0] / size[:, 0] * bias**4 < overlap[:, 1] / size[:, 1]
        way = np.where(apart >= 0, 1.0, -1.0) * (overlap * 0.5 + 0.3)
        way = np.where(np.column_stack([sideways, ~sideways]), way, 0.0)
        way *= np.where(fixed[one] ^ fixed[other], 2.0, 1.0)[:, None] * 0.6
        push[order[one]] -= way  # a row occurs once per side and offset, so plain addition is enough
        push[order[other]] += way
    return push.clip(-60.0, 60.0), touching


def _off_lines(graph: _Graph, places: _Floats) -> _Floats:
    """How far boxes must give way to lines that lead past them."""
    centres = places + np.array([0.0, _BELOW])
    begin, along = places[graph.links[:, 0]], places[graph.links[:, 1]] - places[graph.links[:, 0]]
    length = np.maximum((along**2).sum(axis=1), 1.0)
    offset = centres[:, None, :] - begin[None, :, :]
    share = ((offset * along).sum(axis=2) / length).clip(0.0, 1.0)
    away = offset - share[..., None] * along
    distance = np.hypot(away[..., 0], away[..., 1])
    across = np.abs(along[:, 1]) / np.sqrt(length)  # 1 for an upright line, which is wider across a name than along
    wanted = graph.half[:, 1, None] + (graph.half[:, 0, None] - graph.half[:, 1, None]) * across[None, :] * 0.6
    near = (distance < wanted) & (share > 0.0) & (share < 1.0)
    rows = np.arange(graph.size)[:, None]
    near &= (graph.links[None, :, 0] != rows) & (graph.links[None, :, 1] != rows)
    strength = np.where(near, (wanted - distance) * 0.15 / distance.clip(1.0), 0.0)
    push: _Floats = (away * strength[..., None]).sum(axis=1)
    return push.clip(-12.0, 12.0)
