"""The hierarchy of Microsoft GraphRAG: of the table of communities, and in old releases of the nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from backend.loading.formats.cells import Cells
from backend.loading.formats.groups import UNCLUSTERED
from backend.loading.formats.index import Community, Entity, Metadata, Notes
from backend.loading.formats.memberships import Memberships
from backend.loading.formats.tables import Table
from backend.loading.rows import CommunityRow


def communities_of(
    communities: Table | None, nodes: Table | None, entities: Sequence[Entity], notes: Notes
) -> list[Community]:
    """The communities with their members and parents; where no table has these, the nodes have."""
    has_members = communities is not None and "entity_ids" in communities.columns
    has_parents = communities is not None and "parent" in communities.columns
    by_node = _read_nodes(nodes, entities, notes) if nodes is not None and not has_members else Memberships()
    found = _read_communities(communities, notes) if communities is not None else []
    listed = {community.number for community, _ in found}
    length = 0 if communities is None else communities.length
    for number, level in sorted(by_node.levels.items()):
        if number not in listed:  # in no row of the communities, so that it is one after the last
            length += 1
            row = by_node.rows[number] if communities is None else length
            found.append((Community(row, number, level, None, None, ()), None))
    notes.read[CommunityRow.kind] += len(by_node.levels.keys() - listed)
    if nodes is not None:
        for number in by_node.levels:
            detail = f"community {number}"
            notes.issues(CommunityRow).repaired("members_from_nodes", nodes.file, by_node.rows[number], detail)
    made = [(_with_nodes(community, by_node, has_parents), children) for community, children in found]
    _check_children(made, notes)
    return [community for community, _ in made]


def _read_communities(table: Table, notes: Notes) -> list[tuple[Community, tuple[str, ...] | None]]:
    """Each community, and its children as they are listed, if they are."""
    found: list[tuple[Community, tuple[str, ...] | None]] = []
    notes.read[CommunityRow.kind] += table.length
    issues = notes.issues(CommunityRow)
    for row, values in table.rows:
        cells = Cells(values)
        number = cells.whole("community") if cells.has("community") else cells.whole("id", "human_readable_id")
        level = cells.whole("level")
        if number is None or level is None or level < 0:
            column = "community" if number is None else "level"
            issues.left_out("missing_field", table.file, row, f"no `{column}`")
            continue
        children = cells.ids("children") if cells.has("children") else None
        members = tuple(dict.fromkeys(cells.ids("entity_ids")))
        size = cells.whole("size")
        if size is not None and "entity_ids" in table.columns and size != len(members):
            issues.repaired("counted_anew", table.file, row, f"`size` is {size}, and there are {len(members)} members")
        metadata: Metadata = {
            name: value
            for name, value in (("original_id", cells.text("id")), ("short_id", cells.text("human_readable_id")))
            if value is not None
        }
        cells.drop("relationship_ids", "text_unit_ids")
        parent = cells.whole("parent")
        title = cells.text("title")
        notes.unread(CommunityRow, row, cells)
        parent = None if parent in (None, UNCLUSTERED) else parent
        found.append((Community(row, number, level, parent, title, members, cells.rest() | metadata), children))
    return found


def _read_nodes(table: Table, entities: Sequence[Entity], notes: Notes) -> Memberships:
    nodes = Memberships()
    ids = {entity.id for entity in entities}
    by_title = {entity.title: entity.id for entity in entities}
    unknown = 0
    for row, values in table.rows:
        cells = Cells(values)
        node, title = cells.text("id"), cells.text("title")
        number, level = cells.whole("community"), cells.whole("level")
        entity = node if node in ids else by_title.get(title or "")
        if number is None or number == UNCLUSTERED or level is None or level < 0:
            continue
        if entity is None:
            unknown += 1
            continue
        nodes.add(number, level, (entity,), row)
    if unknown:
        detail = f"{unknown} nodes of no entity"
        notes.issues(CommunityRow).repaired("unknown_ids", table.file, None, detail, count=unknown)
    return nodes


def _with_nodes(community: Community, nodes: Memberships, has_parent: bool) -> Community:
    if community.number not in nodes.levels:
        return community
    members = tuple(nodes.members[community.number])
    parent = community.parent if has_parent else nodes.parent(community.number)
    return replace(community, entity_ids=members, parent=parent)


def _check_children(found: Sequence[tuple[Community, tuple[str, ...] | None]], notes: Notes) -> None:
    """Notes the communities whose listed children are not those that name them as their parent."""
    children: Mapping[int, set[str]] = defaultdict(set)
    for community, _ in found:
        if community.parent is not None:
            children[community.parent].add(str(community.number))
    file = notes.file(CommunityRow)
    for community, listed in found:
        if listed is not None and {_number(one) for one in listed} != children.get(community.number, set()):
            detail = (
                f"community {community.number} lists {len(set(listed))}, and {len(children[community.number])} name it"
            )
            notes.issues(CommunityRow).repaired("children_rebuilt", file, community.row, detail)


def _number(text: str) -> str:
    return text.removesuffix(".0")
