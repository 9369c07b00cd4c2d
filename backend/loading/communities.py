"""Giving a dataset communities: hierarchical Leiden over its relations, and an extractive report on each.

Two jobs: the first writes the hierarchy, the second reads what is in each of its communities and writes the reports.
In between every report is made when it is read; so is one that a killed second job has left without.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from backend.answers.base import LanguageModel
from backend.answers.known_names import folded_names
from backend.answers.reports import WrittenReport, write_report
from backend.communities import leiden
from backend.communities.extractive import extractive_report, report_passages
from backend.communities.reading import Material, materials, report_vectors
from backend.communities.values import CommunityOrigin, Report, ReportOrigin
from backend.errors import Unavailable
from backend.identity import stable_id
from backend.loading.jobs import Ticker
from backend.loading.plan import batched
from backend.models import EVERYTHING
from backend.scope import resolve
from backend.stores.base import GraphStore, GraphView, GraphWriter
from backend.stores.rows import NewCommunity
from backend.vectors.base import Encoder, Index, Vector

# Communities whose contents are read at once.
_BATCH = 50


def datasets_to_build(view: GraphView, wanted: Sequence[str]) -> list[str]:
    """The datasets that are to be given communities: the wanted ones, or all whose communities no index brought.

    Raises Unavailable for an unknown one.
    """
    known = sorted(view.row_counts())
    unknown = [dataset for dataset in wanted if dataset not in known]
    if unknown:
        raise Unavailable(
            f"There is no dataset {unknown[0]!r}.", hint=f"There is: {', '.join(known) or 'none yet'}.", known=known
        )
    return [dataset for dataset in known if dataset in wanted or (not wanted and not _is_imported(view, dataset))]


def _is_imported(view: GraphView, dataset: str) -> bool:
    return any(row.origin is CommunityOrigin.IMPORTED for row in view.community_rows(dataset))


def put_hierarchies(store: GraphStore, writer: GraphWriter, datasets: Sequence[str], ticker: Ticker) -> list[str]:
    """Replaces the communities of these datasets; what was done, in words."""
    done = []
    for number, dataset in enumerate(datasets):
        ticker(f"reading the relations of {dataset}", number, len(datasets))
        edges = store.read(partial(_weighted, dataset))
        ticker(f"finding the communities of {dataset}", number, len(datasets))
        rows = _rows(dataset, leiden.hierarchy(edges))
        writer.put_communities(dataset, rows)
        levels = 1 + max((row.level for row in rows), default=-1)
        done.append(f"{len(rows)} communities on {levels} levels found in {dataset}")
    return done


def _weighted(dataset: str, view: GraphView) -> list[tuple[str, str, float]]:
    """What every edge weighs (see `backend.communities.leiden`): its relations, or where all have weights these."""
    is_weighted = dataset in view.weighted_datasets()
    edges = view.weighted_edges(dataset, resolve(EVERYTHING))
    return [(edge.source, edge.target, edge.weight if is_weighted else edge.relations) for edge in edges]


def _rows(dataset: str, clusters: Sequence[leiden.Cluster]) -> list[NewCommunity]:
    sources = [leiden.community_key(cluster.level, cluster.members) for cluster in clusters]
    ids = [stable_id("community", dataset, source) for source in sources]
    return [
        NewCommunity(
            id=community,
            source_id=source,
            level=cluster.level,
            parent=None if cluster.parent is None else ids[cluster.parent],
            title=source,
            origin=CommunityOrigin.BUILT,
            member_ids=cluster.members,
        )
        for community, source, cluster in zip(ids, sources, clusters, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class ReportWriter:
    """A language model that writes reports, with what it takes to check them; `tokens` is the most of a prompt."""

    model: LanguageModel
    encoder: Encoder
    tokens: int

    def write(self, material: Material, names: Mapping[str, Collection[str]]) -> WrittenReport:
        """A report of this material; `names` are the folded names of the entities in it, each with its aliases."""
        return write_report(*material, encoder=self.encoder, model=self.model, names=names, tokens=self.tokens)


def put_reports(
    store: GraphStore,
    writer: GraphWriter,
    datasets: Sequence[str],
    index: Index,
    ticker: Ticker,
    *,
    model: ReportWriter | None = None,
) -> tuple[dict[str, Vector], list[str]]:
    """Gives every community of these datasets its report; the vectors of those that no model wrote, and notes.

    Where a model is to write and does not, the report is extractive.
    """
    vectors: dict[str, Vector] = {}
    notes: Counter[str] = Counter()
    for dataset in datasets:
        rows = store.read(partial(_stored, dataset))
        reports: dict[str, Report] = {}
        for number, batch in enumerate(batched(rows, _BATCH)):
            ticker(f"reporting on the communities of {dataset}", number * _BATCH, len(rows))
            found = store.read(partial(_found, [row.id for row in batch], index))
            reports |= found.reports
            if model is not None:
                for place, (community, material) in enumerate(found.materials.items(), start=number * _BATCH):
                    ticker(f"writing about the communities of {dataset}", place, len(rows))
                    written = model.write(material, found.names)
                    if written.report is not None:
                        reports[community] = written.report
                    else:
                        notes[written.note] += 1
            quoted = {one for one in found.vectors if reports[one].origin is ReportOrigin.EXTRACTIVE}
            vectors |= {one: found.vectors[one] for one in quoted}
        writer.put_communities(
            dataset, [replace(row, title=reports[row.id].title, report=reports[row.id]) for row in rows]
        )
    return vectors, [f"{count} reports are quotations: {note}" for note, count in notes.items()]


def _stored(dataset: str, view: GraphView) -> list[NewCommunity]:
    return view.community_rows(dataset)


class _Found(NamedTuple):
    """What is read of some communities: material, extractive reports with their vectors, and the names of entities."""

    materials: Mapping[str, Material]
    reports: dict[str, Report]
    vectors: dict[str, Vector]
    names: Mapping[str, Collection[str]]


def _found(ids: Sequence[str], index: Index, view: GraphView) -> _Found:
    scope = resolve(EVERYTHING)
    found = materials(view, ids, scope)
    reports = {community: extractive_report(*one) for community, one in found.items()}
    contents = [content for one in found.values() for content in report_passages(one.edges, one.representative)]
    mentioned = sorted({entity.id for content in contents for entity in content.mentions})
    entities = view.named((), mentioned, (), 0, scope) if mentioned else []
    return _Found(found, reports, report_vectors(view, index, reports, scope), folded_names(entities))


def known_vectors(vectors: Mapping[str, Vector]) -> Callable[[str, Sequence[str]], Mapping[str, Vector]]:
    """What a writer of vectors asks before it encodes anything: these are known."""

    def known(kind: str, ids: Sequence[str]) -> Mapping[str, Vector]:
        return {one: vectors[one] for one in ids if kind == "report" and one in vectors}

    return known
