"""An index as a source of rows: it is read whole when the first row is asked for, and stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, cast

from backend.loading.formats.graph import make_graph
from backend.loading.formats.groups import make_groups
from backend.loading.formats.index import Index, Notes
from backend.loading.formats.matching import Names
from backend.loading.formats.texts import make_texts
from backend.loading.issues import Issues
from backend.loading.rows import (
    ClaimRow,
    CommunityRow,
    DocumentRow,
    EntityRow,
    MentionRow,
    PassageRow,
    R,
    RelationRow,
    ReportRow,
    Row,
)


class IndexRows(Generic[R]):
    """The rows of one kind; `size` and `position` count rows."""

    def __init__(self, rows: Sequence[R], of: type[R], notes: Notes, issues: Issues) -> None:
        self.file = notes.file(of)
        self.size = len(rows)
        self.read = 0
        self.position = 0
        self._rows = rows
        self._of = of
        self._notes = notes
        self._issues = issues

    def __iter__(self) -> Iterator[R]:
        self._issues.add(self._notes.issues(self._of))
        for row in self._rows:
            self.position += 1
            yield row
        self.read = self._notes.read[self._of.kind]


@dataclass(frozen=True)
class IndexSource:
    """The index of another tool; `read` reads its files and raises Malformed for one that it cannot do without."""

    name: str
    format: str
    kinds: tuple[str, ...]
    read: Callable[[], Index]

    def rows(self, of: type[R], issues: Issues) -> IndexRows[R]:
        """The rows of a kind; none of the kinds that no index has."""
        notes, rows = self._made
        return IndexRows(cast(Sequence[R], rows.get(of, ())), of, notes, issues)

    @cached_property
    def _made(self) -> tuple[Notes, dict[type[Row], Sequence[Row]]]:
        index = self.read()
        texts, names = make_texts(index), Names(index)
        graph = make_graph(index, texts, names)
        groups = make_groups(index, texts, names, graph)
        return index.notes, {
            DocumentRow: texts.documents,
            PassageRow: texts.passages,
            EntityRow: names.rows,
            MentionRow: graph.mentions,
            RelationRow: graph.relations,
            ClaimRow: graph.claims,
            CommunityRow: groups.communities,
            ReportRow: groups.reports,
        }
