"""Permalinks: every view is in its address, is read from it, and is changed by writing it.

The address is the one place where the state of a view is kept; widgets follow it (`hold`). The text of a search is
bound to its parameter by Streamlit itself, which replaces the address while somebody types; every other change is a
step that the browser's Back undoes. A value that cannot be read is `malformed`, in words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import streamlit as st

from backend.communities.values import RRF, WEIGHTED, CommunityQuery
from backend.errors import Malformed
from backend.models import EVERYTHING, Condition, EntityQuery, Mode, PassageQuery, Scope, WalkQuery
from backend.questions import STRATEGIES, Question
from backend.scope import OPERATORS, parse_condition

Params: TypeAlias = dict[str, list[str]]

SEARCH, EXPLORE, ASK, COMMUNITIES, DATA = "search", "explore", "ask", "communities", "data"
FILES = {page: f"pages/{page}.py" for page in (SEARCH, EXPLORE, ASK, COMMUNITIES, DATA)}
TEXT = "q"  # bound to the search box, so it is never written here
ENTITIES, PASSAGES = "entities", "passages"
GRAPH, TABLE = "graph", "table"
TREE, PICTURE = "tree", "picture"
REPORT, MEMBERS, RELATIONS, CLAIMS = "report", "members", "relations", "claims"
PARTS = (REPORT, MEMBERS, RELATIONS, CLAIMS, GRAPH)

_SCOPE_KEYS = ("collection", "document", "where", "as_of")
_KEYS = {
    SEARCH: (TEXT, "results", "label", "mode", "limit", "hit"),
    EXPLORE: ("entity", "depth", "type", "nodes", "edges", "candidates", "view", "node", "edge"),
    ASK: ("question", "strategy", "reach"),
    COMMUNITIES: ("community", "part", "thing", "at", "shown", "about", "level", "score"),
    DATA: (),
}
_WALK = WalkQuery("")
_SEARCH = EntityQuery("")


@dataclass(frozen=True, slots=True)
class SearchView:
    """What the Search page shows; `hit` is the entity, or the passage, that stands beside the hits."""

    text: str = ""
    results: str = ENTITIES
    labels: tuple[str, ...] = ()
    mode: Mode = Mode.HYBRID
    limit: int = _SEARCH.limit
    hit: str | None = None
    scope: Scope = EVERYTHING

    @property
    def query(self) -> EntityQuery:
        return EntityQuery(self.text.strip(), self.labels, self.mode, self.limit, scope=self.scope)

    @property
    def passage_query(self) -> PassageQuery:
        return PassageQuery(self.text.strip(), self.mode, self.limit, self.scope)


@dataclass(frozen=True, slots=True)
class ExploreView:
    """What the Explore page shows; `node` or `edge` is selected, or else the entity that the walk starts from."""

    entity: str = ""
    depth: int = _WALK.depth
    types: tuple[str, ...] = ()
    max_nodes: int = _WALK.max_nodes
    max_edges: int = _WALK.max_edges
    max_candidates: int = _WALK.max_candidates
    shown: str = GRAPH
    node: str | None = None
    edge: str | None = None
    scope: Scope = EVERYTHING

    @property
    def query(self) -> WalkQuery:
        bounds = (self.max_nodes, self.max_edges, self.max_candidates)
        return WalkQuery(self.entity, self.depth, self.types, *bounds, scope=self.scope)

    @property
    def unselected(self) -> ExploreView:
        """The same view with nothing selected: the same place in the history."""
        return replace(self, node=None, edge=None)


@dataclass(frozen=True, slots=True)
class AskView:
    """What the Ask page shows."""

    text: str = ""
    strategy: str = STRATEGIES[0]
    scope: Scope = EVERYTHING
    reach: int = 1

    @property
    def question(self) -> Question:
        return Question(self.text.strip(), self.strategy, scope=self.scope, reach=self.reach)


@dataclass(frozen=True, slots=True)
class CommunitiesView:
    """What the Communities page shows: a community, else what is found for a question, else the hierarchy.

    `thing` is what the evidence is of, as KIND:ID with the kinds of `backend.communities.values.Citation`; `at` is the
    community that is selected in the hierarchy. Without a `level` a question finds communities of all levels.
    """

    community: str | None = None
    part: str = REPORT
    thing: str | None = None
    at: str | None = None
    shown: str = TREE
    text: str = ""
    level: int | None = None
    score: str = RRF
    scope: Scope = EVERYTHING

    @property
    def query(self) -> CommunityQuery:
        return CommunityQuery(self.text.strip(), self.score, level=self.level, scope=self.scope)

    def opened(self, community: str, thing: str | None = None) -> CommunitiesView:
        """The view of a community, from which the way back leads here."""
        return replace(self, community=community, part=REPORT, thing=thing, at=community)

    def selecting(self, at: str | None) -> CommunitiesView:
        """The hierarchy with this community selected."""
        return replace(self, community=None, thing=None, at=at)

    @property
    def closed(self) -> CommunitiesView:
        """The view that leads to communities: the hierarchy, or what was found."""
        return replace(self, community=None, part=REPORT, thing=None)


# --- views and parameters --------------------------------------------------------------------------------------------


def scope_params(scope: Scope) -> Params:
    return _present(
        collection=scope.collections,
        document=scope.document_ids,
        where=[_write_condition(condition) for condition in scope.conditions],
        as_of=[scope.as_of] if scope.as_of else [],
    )


def search_params(view: SearchView) -> Params:
    return _present(
        q=[view.text] if view.text else [],
        results=_unless(view.results, ENTITIES),
        label=view.labels,
        mode=_unless(view.mode.value, Mode.HYBRID.value),
        limit=_unless(view.limit, _SEARCH.limit),
        hit=[view.hit] if view.hit else [],
    ) | scope_params(view.scope)


def explore_params(view: ExploreView) -> Params:
    return _present(
        entity=[view.entity] if view.entity else [],
        depth=_unless(view.depth, _WALK.depth),
        type=view.types,
        nodes=_unless(view.max_nodes, _WALK.max_nodes),
        edges=_unless(view.max_edges, _WALK.max_edges),
        candidates=_unless(view.max_candidates, _WALK.max_candidates),
        view=_unless(view.shown, GRAPH),
        node=[view.node] if view.node else [],
        edge=[view.edge] if view.edge else [],
    ) | scope_params(view.scope)


def ask_params(view: AskView) -> Params:
    return _present(
        question=[view.text] if view.text else [],
        strategy=_unless(view.strategy, STRATEGIES[0]),
        reach=_unless(view.reach, 1),
    ) | scope_params(view.scope)


def communities_params(view: CommunitiesView) -> Params:
    return _present(
        community=[view.community] if view.community else [],
        part=_unless(view.part, REPORT),
        thing=[view.thing] if view.thing else [],
        at=[view.at] if view.at and view.at != view.community else [],
        shown=_unless(view.shown, TREE),
        about=[view.text] if view.text else [],
        level=_unless(view.level, None),
        score=_unless(view.score, RRF),
    ) | scope_params(view.scope)


def read_scope(params: Mapping[str, Sequence[str]]) -> Scope:
    conditions = tuple(_read_condition(text) for text in params.get("where", ()))
    return Scope(
        tuple(params.get("collection", ())), tuple(params.get("document", ())), conditions, _last(params, "as_of")
    )


def read_search(params: Mapping[str, Sequence[str]]) -> SearchView:
    return SearchView(
        text=_last(params, TEXT) or "",
        results=_choice(params, "results", [ENTITIES, PASSAGES]),
        labels=tuple(params.get("label", ())),
        mode=Mode(_choice(params, "mode", [mode.value for mode in Mode])),
        limit=_number(params, "limit", _SEARCH.limit),
        hit=_last(params, "hit"),
        scope=read_scope(params),
    )


def read_explore(params: Mapping[str, Sequence[str]]) -> ExploreView:
    return ExploreView(
        entity=_last(params, "entity") or "",
        depth=_number(params, "depth", _WALK.depth),
        types=tuple(params.get("type", ())),
        max_nodes=_number(params, "nodes", _WALK.max_nodes),
        max_edges=_number(params, "edges", _WALK.max_edges),
        max_candidates=_number(params, "candidates", _WALK.max_candidates),
        shown=_choice(params, "view", [GRAPH, TABLE]),
        node=_last(params, "node"),
        edge=_last(params, "edge"),
        scope=read_scope(params),
    )


def read_ask(params: Mapping[str, Sequence[str]]) -> AskView:
    return AskView(
        text=_last(params, "question") or "",
        strategy=_choice(params, "strategy", STRATEGIES),
        scope=read_scope(params),
        reach=_number(params, "reach", 1),
    )


def read_communities(params: Mapping[str, Sequence[str]]) -> CommunitiesView:
    community = _last(params, "community")
    return CommunitiesView(
        community=community,
        part=_choice(params, "part", PARTS),
        thing=_last(params, "thing"),
        at=_last(params, "at") or community,
        shown=_choice(params, "shown", [TREE, PICTURE]),
        text=_last(params, "about") or "",
        level=_number(params, "level", 0) if "level" in params else None,
        score=_choice(params, "score", [RRF, WEIGHTED]),
        scope=read_scope(params),
    )


def _present(**values: Sequence[str]) -> Params:
    return {key: list(value) for key, value in values.items() if value}


def _unless(value: object, default: object) -> list[str]:
    return [] if value == default else [str(value)]


def _last(params: Mapping[str, Sequence[str]], key: str) -> str | None:
    values = params.get(key, ())
    return values[-1] or None if values else None


def _number(params: Mapping[str, Sequence[str]], key: str, default: int) -> int:
    text = _last(params, key)
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise Malformed(f"{key}={text} in the address is not a number.", hint="Use the link as it was given.")
    return int(text)


def _choice(params: Mapping[str, Sequence[str]], key: str, choices: Sequence[str]) -> str:
    """The value if it is one of the choices; the first of them where there is none."""
    text = _last(params, key)
    if text is not None and text not in choices:
        raise Malformed(f"{key}={text} in the address is not known.", hint=f"Known: {', '.join(choices)}.")
    return text or choices[0]


def _write_condition(condition: Condition) -> str:
    """KEY OP VALUE where that reads back as the same, else a JSON list."""
    text = f"{condition.key} {condition.operator} {', '.join(condition.values)}".strip()
    try:
        exact = not text.startswith("[") and parse_condition(text) == condition
    except Malformed:
        exact = False
    return text if exact else json.dumps([condition.key, condition.operator, *condition.values])


def _read_condition(text: str) -> Condition:
    if text.startswith("["):
        try:
            match json.loads(text):
                case [str(key), str(operator), *values] if operator in OPERATORS:
                    return Condition(key, operator, tuple(str(value) for value in values))
        except json.JSONDecodeError:
            pass  # a key that begins with a bracket
    return parse_condition(text)


# --- the address of this session -------------------------------------------------------------------------------------


def current() -> Params:
    """The parameters of the address; the text of a search is the search box's own."""
    params = _written()
    if TEXT in st.session_state:
        params[TEXT] = [st.session_state[TEXT]] if st.session_state[TEXT] else []
    return {key: values for key, values in params.items() if values}


def scope() -> Scope:
    return read_scope(current())


def search() -> SearchView:
    return read_search(_remembered(SEARCH))


def explore() -> ExploreView:
    return read_explore(_remembered(EXPLORE))


def ask() -> AskView:
    return read_ask(_remembered(ASK))


def communities() -> CommunitiesView:
    return read_communities(_remembered(COMMUNITIES))


def go_search(view: SearchView) -> None:
    """Makes this the search that is shown; where its text changes, only in a callback, before the box is drawn."""
    if view.text != st.session_state.get(TEXT, ""):
        st.session_state[TEXT] = view.text
    _write(search_params(view))


def go_explore(view: ExploreView) -> None:
    _write(explore_params(view))


def go_ask(view: AskView) -> None:
    _write(ask_params(view))


def go_communities(view: CommunitiesView) -> None:
    _write(communities_params(view))


def set_scope(asked: Scope) -> None:
    """Puts the view that is shown under another scope."""
    kept = {key: values for key, values in current().items() if key not in _SCOPE_KEYS}
    _write(kept | scope_params(asked))


def has_scope() -> bool:
    return any(key in _written() for key in _SCOPE_KEYS)


def clear_scope() -> None:
    """A callback: everything that is current; works for a scope that cannot be read, too."""
    _write({key: values for key, values in _written().items() if key not in _SCOPE_KEYS})


def start_over() -> None:
    """A callback: the page with nothing asked."""
    st.session_state[TEXT] = ""
    _write({})


def enter(page: str) -> None:
    """Gives a page that was opened without an address of its own the one it had last, under the scope of now.

    On the way from one page to another the browser's history gets steps with the address of one and the page of the
    other; coming back to such a step is nothing else.
    """
    state = st.session_state
    came_from, state["page"] = state.get("page"), page
    params = _written()
    strange = any(key not in (*_KEYS[page], *_SCOPE_KEYS) for key in params)
    if came_from is not None and (came_from != page or strange) and not any(key in params for key in _KEYS[page]):
        kept = {key: values for key, values in _memory().get(page, {}).items() if key in _KEYS[page]}
        scoped = {key: values for key, values in params.items() if key in _SCOPE_KEYS} or state.get("scope", {})
        if TEXT in kept:
            state[TEXT] = kept[TEXT][-1]
        _write(kept | scoped)


def hold(key: str, value: Any) -> None:
    """Makes the widget with this key show a value of the address, without disturbing it where it already does."""
    if st.session_state.get(key) != value:
        st.session_state[key] = value


def remember_scope() -> None:
    """Keeps the scope for the next page that is opened."""
    st.session_state["scope"] = {key: values for key, values in current().items() if key in _SCOPE_KEYS}


def _remembered(page: str) -> Params:
    params = current()
    _memory()[page] = params
    return params


def _memory() -> dict[str, Params]:
    memory: dict[str, Params] = st.session_state.setdefault("addresses", {})
    return memory


def _written() -> Params:
    """The parameters as the browser has them."""
    return {key: list(st.query_params.get_all(key)) for key in st.query_params}


def _write(wanted: Params) -> None:
    """Changes the address in one step where that is possible (`q` is left to the search box)."""
    now = _written()
    wanted = {key: values for key, values in wanted.items() if key != TEXT}
    gone = [key for key in now if key not in wanted and key != TEXT]
    if TEXT not in now and gone:
        st.query_params.from_dict(wanted)
        return
    changed = {key: values for key, values in wanted.items() if now.get(key) != values}
    if changed:
        st.query_params.update(changed)
    for key in gone:
        del st.query_params[key]
