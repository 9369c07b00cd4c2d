"""Makes the demo graph: reads demo/story, writes the bundles demo/first and demo/second, and checks them.

python demo/build.py

The mark-up of a source: a header, then a paragraph for each passage, with an optional `## heading` before it and
the relations that it states below it as `> source | type | target`. A mention is [[entity]] or [[entity|surface]].
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

HERE = Path(__file__).parent
STORY = HERE / "story"
BUNDLES = ("first", "second")
KINDS = ("documents", "passages", "entities", "mentions", "relations")
MENTION = re.compile(r"\[\[([a-z0-9-]+)(?:\|([^]]+))?]]")
NUMBERS = ("pages", "number")  # what of a header is a number
FIELDS = ("title", "collection", "date", "author", "url")  # what of it is no metadata

Row: TypeAlias = dict[str, Any]
Tables: TypeAlias = dict[str, list[Row]]
Triple: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True)
class Passage:
    """A paragraph: its text without mark-up, who is mentioned where, and what it states."""

    id: str
    heading: str | None
    text: str
    mentions: list[Row]
    states: list[Triple]


@dataclass(frozen=True)
class Document:
    id: str
    header: dict[str, str]
    passages: list[Passage] = field(default_factory=list)


# --- reading the sources ------------------------------------------------------------------------------------


def parse(document_id: str, source: str, names: dict[str, str]) -> Document:
    """The document of a marked-up source; `names` has the name of each entity."""
    head, *blocks = source.strip().split("\n\n")
    document = Document(document_id, dict(line.split(": ", 1) for line in head.splitlines()))
    for number, block in enumerate(blocks, start=1):
        document.passages.append(parse_passage(f"{document_id}-p{number}", block, names))
    return document


def parse_passage(passage_id: str, block: str, names: dict[str, str]) -> Passage:
    lines = block.splitlines()
    heading = lines.pop(0).removeprefix("## ") if lines[0].startswith("## ") else None
    marked = " ".join(line for line in lines if not line.startswith("> "))
    states = [triple(line.removeprefix("> ")) for line in lines if line.startswith("> ")]
    text, mentions, end = "", [], 0
    for match in MENTION.finditer(marked):
        text += marked[end : match.start()]
        surface = match[2] or names[match[1]]
        place = {"surface": surface, "start": len(text), "end": len(text) + len(surface)}
        mentions.append({"entity_id": match[1], "passage_id": passage_id} | place)
        text, end = text + surface, match.end()
    return Passage(passage_id, heading, text + marked[end:], mentions, states)


def triple(line: str) -> Triple:
    source, relation_type, target = line.split(" | ")
    return source, relation_type, target


def read_toml(name: str) -> Row:
    return tomllib.loads((STORY / name).read_text("utf-8"))


def read_story(bundle: str, names: dict[str, str]) -> list[Document]:
    files = sorted((STORY / bundle).glob("*.txt"))
    return [parse(file.stem, file.read_text("utf-8"), names) for file in files]


# --- the fleet and its notices ------------------------------------------------------------------------------


def fleet(words: Row, random: Random) -> Row:
    """The vessels of the notices as entities.toml would have them; each two neighbours are sister ships."""
    vessels = {}
    names = random.sample(list(product(words["colours"], words["birds"])), words["fleet"])
    for number in range(0, len(names), 2):
        hull = {"built": random.randint(1988, 2016), "deadweight": random.randrange(1800, 9000, 100)}
        kind = random.choice(words["kinds"])
        description = f"{kind} of {hull['deadweight']:,} tonnes deadweight, built {hull['built']}"
        for colour, bird in names[number : number + 2]:
            name = f"{random.choice(words['prefixes'])} {colour} {bird}"
            vessel: Row = {"label": "Vessel", "name": name, "aliases": [f"{colour} {bird}"], "metadata": hull}
            if number % 3 == 0:
                vessel["description"] = description
            vessels[f"{colour}-{bird}".lower()] = vessel
    return vessels


class Notices:
    """Deals the fleet, the ports and the companies out to the templates."""

    def __init__(self, words: Row, vessels: Row, random: Random) -> None:
        self.words, self.random = words, random
        self.vessels = list(vessels)
        self.short = {vessel: vessels[vessel]["aliases"][0] for vessel in vessels}
        self.firms = {vessel: self._firms() for vessel in vessels}
        self.home = f"[[{words['home']}]]"
        self.rest: list[Row] = []  # templates not used since the last shuffle

    def _firms(self) -> dict[str, str]:
        lists = {"charterer": "charterers", "manager": "managers", "holder": "holders"}
        return {slot: self.random.choice(self.words[plural]) for slot, plural in lists.items()}

    def sources(self) -> dict[str, str]:
        """All notices by document id, as marked-up sources in the order of their days."""
        notices = sorted([*self._told(), *self._fleet()], key=lambda notice: notice[:2])
        numbers: Counter[int] = Counter()
        sources = {}
        for day, _, body in notices:
            numbers[day.year] += 1
            number = numbers[day.year]
            head = f"title: Shipping notice {day.year}/{number:03}\ncollection: Filings\ndate: {day}\n"
            head += f"source: {self.words['source']}\npages: 1\nnumber: {number}\ntopics: port calls"
            sources[f"notice-{day.year}-{number:03}"] = f"{head}\n\n{body}"
        return sources

    def _told(self) -> Iterator[tuple[date, str, str]]:
        """The calls of the story's vessels, without a cargo: the sources say what these ships carried."""
        known = ["vessel | calls at | port"]
        templates = [template for template in self.words["template"] if template["states"] == known]
        plain = [template for template in templates if "{cargo}" not in template["text"]]
        for vessel, calls in self.words["calls"].items():
            for number, call in enumerate(calls):
                day, port = call.split(" ", 1)
                slots = self._slots(vessel, port, date.fromisoformat(day))
                template = plain[(number + len(vessel)) % len(plain)]
                yield date.fromisoformat(day), vessel, body(template, slots)

    def _fleet(self) -> Iterator[tuple[date, str, str]]:
        """One call of each vessel, nearly all of them at home, then calls anywhere."""
        told = sum(map(len, self.words["calls"].values()))
        at_home = self.vessels[: -self.words["away"]]
        first, last = (date.fromisoformat(self.words[key]) for key in ("first_day", "last_day"))
        for number in range(self.words["count"] - told):
            vessel = self.vessels[number] if number < len(self.vessels) else self.random.choice(self.vessels)
            home = vessel in at_home and (number < len(self.vessels) or self.random.random() < 0.2)
            port = self.home if home else self.random.choice(self.words["ports"])
            day = first + timedelta(days=self.random.randint(0, (last - first).days))
            slots = self._slots(vessel, port, day)
            yield day, vessel, body(self._template(), slots)

    def _template(self) -> Row:
        if not self.rest:
            templates = self.words["template"]
            self.rest = self.random.sample(templates, len(templates))
        return self.rest.pop()

    def _slots(self, vessel: str, port: str, day: date) -> dict[str, str]:
        random = self.random
        cargo = random.choice(self.words["cargoes"])
        return {
            "vessel": f"[[{vessel}]]",
            "port": port,
            "origin": random.choice([other for other in self.words["ports"] if other != port]),
            "day": f"{day.day} {day:%B %Y}",
            "time": f"{random.randint(0, 23):02}:{random.randrange(0, 60, 5):02}",
            "berth": random.choice(self.words["berths"]),
            "hours": str(random.randint(5, 70)),
            "draught": f"{random.randint(31, 79) / 10}",
            "tonnes": f"{random.randrange(400, 3600, 20):,}",
            "remark": random.choice(self.words["remarks"]),
            "cargo": cargo,
            "cargo_first": cargo.capitalize(),
        } | self._of_fleet(vessel)

    def _of_fleet(self, vessel: str) -> dict[str, str]:
        if vessel not in self.firms:
            return {}
        sister = self.vessels[self.vessels.index(vessel) ^ 1]
        return {"short": f"[[{vessel}|{self.short[vessel]}]]", "sister": f"[[{sister}]]"} | self.firms[vessel]


def body(template: Row, slots: dict[str, str]) -> str:
    """The marked-up paragraph of a notice and the relations below it."""
    lines = [template["text"].format_map(slots)]
    for line in template["states"]:
        source, relation_type, target = triple(line)
        ends = [MENTION.fullmatch(slots[slot]) for slot in (source, target)]
        lines.append(" | ".join(["> " + ends[0][1], relation_type, ends[1][1]]))  # type: ignore[index]
    return "\n".join(lines)


# --- writing the bundles ------------------------------------------------------------------------------------


def document_row(document: Document) -> Row:
    header = document.header
    metadata: Row = {key: value for key, value in header.items() if key not in FIELDS}
    metadata |= {key: int(header[key]) for key in NUMBERS if key in header}
    metadata["topics"] = header["topics"].split(", ")
    fields = {key: header[key] for key in FIELDS if key in header}
    return {"id": document.id} | fields | {"valid_from": header["date"], "metadata": metadata}


def passage_rows(document: Document) -> Iterator[Row]:
    for position, passage in enumerate(document.passages):
        row: Row = {"id": passage.id, "document_id": document.id, "position": position}
        if passage.heading:
            row["heading"] = passage.heading
        yield row | {"text": passage.text}


def relation_rows(document: Document) -> Iterator[Row]:
    """What a document states, once each, with all of its passages that do."""
    stated: dict[Triple, list[str]] = defaultdict(list)
    for passage in document.passages:
        for relation in passage.states:
            stated[relation].append(passage.id)
    for (source, kind, target), passages in stated.items():
        row = {"id": f"{document.id}: {source} {kind} {target}", "source": source, "type": kind, "target": target}
        yield row | {"passage_ids": passages}


def path_rows() -> Iterator[Row]:
    for path in read_toml("paths.toml")["path"]:
        source, kind, target = triple(path["relation"])
        row = {"id": f"path: {source} {kind} {target}", "source": source, "type": kind, "target": target}
        yield row | {"description": path["description"]}


def entity_row(entity_id: str, entity: Row) -> Row:
    row = {"id": entity_id, "name": entity["name"], "type": entity["label"]}
    return row | {key: entity[key] for key in ("aliases", "description", "metadata") if key in entity}


def tables(documents: Iterable[Document], entities: Row) -> Tables:
    """The rows of a bundle; of the entities those that it mentions."""
    rows: Tables = {kind: [] for kind in KINDS}
    for document in documents:
        rows["documents"].append(document_row(document))
        rows["passages"] += passage_rows(document)
        rows["mentions"] += [mention for passage in document.passages for mention in passage.mentions]
        rows["relations"] += relation_rows(document)
    mentioned = {mention["entity_id"] for mention in rows["mentions"]}
    rows["entities"] = [entity_row(key, entities[key]) for key in entities if key in mentioned]
    return rows


def write(bundle: str, rows: Tables) -> None:
    folder = HERE / bundle
    folder.mkdir(exist_ok=True)
    for kind in KINDS:
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows[kind]]
        (folder / f"{kind}.jsonl").write_text("".join(lines), "utf-8", newline="\n")


def build() -> None:
    words, entities = read_toml("notices.toml"), read_toml("entities.toml")
    random = Random(words["seed"])
    vessels = fleet(words, random)
    entities |= vessels
    names = {key: entity["name"] for key, entity in entities.items()}
    notices = Notices(words, vessels, random).sources().items()
    dealt = [parse(key, source, names) for key, source in notices]
    first = tables([*read_story("first", names), *dealt], entities)
    second = tables(read_story("second", names), entities)
    known = {row["id"] for row in first["entities"]}
    second["entities"] = [row for row in second["entities"] if row["id"] not in known]
    first["relations"] += path_rows()
    write("first", first)
    write("second", second)


# --- checking what was written ------------------------------------------------------------------------------


def read(bundle: str) -> Tables:
    def rows(kind: str) -> list[Row]:
        lines = (HERE / bundle / f"{kind}.jsonl").read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines]

    return {kind: rows(kind) for kind in KINDS}


def check_bundle(rows: Tables, entities: dict[str, str]) -> None:
    """Ids, offsets, and that each stated relation's passages mention both ends."""
    for kind in ("documents", "passages", "entities", "relations"):
        repeated = [key for key, count in Counter(row["id"] for row in rows[kind]).items() if count > 1]
        assert not repeated, f"{kind} with the same id: {repeated}"
    documents = {row["id"] for row in rows["documents"]}
    texts = {row["id"]: row["text"] for row in rows["passages"]}
    assert {row["document_id"] for row in rows["passages"]} == documents
    mentioned: dict[str, set[str]] = defaultdict(set)
    for mention in rows["mentions"]:
        text, surface = texts[mention["passage_id"]], mention["surface"]
        assert mention["entity_id"] in entities, mention
        assert text[mention["start"] : mention["end"]] == surface, mention
        mentioned[mention["passage_id"]].add(mention["entity_id"])
    for relation in rows["relations"]:
        ends = {relation["source"], relation["target"]}
        assert len(ends) == 2, relation
        assert ends <= entities.keys(), relation
        for passage in relation.get("passage_ids", []):
            assert ends <= mentioned[passage], f"{passage} does not mention both of {ends}"
    check_marked(rows, entities)


def check_marked(rows: Tables, entities: dict[str, str]) -> None:
    """No passage names an entity in full without the mark-up."""
    marked: dict[str, list[str]] = defaultdict(list)
    for mention in rows["mentions"]:
        marked[mention["passage_id"]].append(mention["surface"])
    for passage in rows["passages"]:
        for name in set(entities.values()):
            count = sum(name in surface for surface in marked[passage["id"]])
            assert passage["text"].count(name) == count, f"{passage['id']}: {name!r} is not marked"


def loaded(first: Tables, second: Tables) -> Tables:
    """What is current once both are loaded."""
    newer = {row["id"] for row in second["documents"]}
    old = {row["id"] for row in first["passages"] if row["document_id"] in newer}
    kept = {
        "documents": [row for row in first["documents"] if row["id"] not in newer],
        "passages": [row for row in first["passages"] if row["id"] not in old],
        "entities": first["entities"],
        "mentions": [row for row in first["mentions"] if row["passage_id"] not in old],
        "relations": [row for row in first["relations"] if not old & set(row.get("passage_ids", []))],
    }
    return {kind: kept[kind] + second[kind] for kind in KINDS}


def edges(rows: Tables) -> dict[Triple, set[str]]:
    """The passages of each edge."""
    folded: dict[Triple, set[str]] = defaultdict(set)
    for row in rows["relations"]:
        folded[row["source"], row["type"], row["target"]].update(row.get("passage_ids", []))
    return folded


def two_steps(start: str, triples: Iterable[Triple]) -> tuple[int, int]:
    """How many nodes and edges a walk without bounds reaches."""
    ends = [{source, target} for source, _, target in triples]
    nodes = {start}.union(*(pair for pair in ends if start in pair))
    walked = [pair for pair in ends if pair & nodes]
    return len(nodes.union(*walked)), len(walked)


def check() -> None:
    """Asserts that the bundles are sound and show what the README says, and prints their counts."""
    first, second = read("first"), read("second")
    names = {row["id"]: row["name"] for row in first["entities"] + second["entities"]}
    check_bundle(first, {row["id"]: row["name"] for row in first["entities"]})
    check_bundle(second, names)
    now = loaded(first, second)
    for name, rows in (("first", first), ("second", second), ("current", now)):
        print(f"{name:8}", *(f"{len(rows[kind])} {kind}" for kind in KINDS), sep="  ")
    check_story(first, now, names)


def check_story(first: Tables, now: Tables, names: dict[str, str]) -> None:
    folded, before = edges(now), edges(first)
    charter = folded["meridian-freight", "charters", "halcyon"]
    assert (len(charter), len({key.rpartition("-")[0] for key in charter})) == (7, 5)
    callers = {source for source, kind, target in folded if (kind, target) == ("calls at", "port-ostrava-bay")}
    assert len(callers) >= 130, len(callers)
    nodes, walked = two_steps("port-ostrava-bay", folded)
    assert nodes > 100, nodes
    assert walked > 300, walked
    unsupported = names.keys() - {row["entity_id"] for row in now["mentions"]}
    assert unsupported == {"orrin-vantage"}, unsupported
    dropped = before.keys() - folded.keys()
    assert len(dropped) == 2, dropped
    texts = Counter(row["text"] for row in now["passages"])
    assert max(texts.values()) == 1, texts.most_common(1)
    assert {row["collection"] for row in now["documents"]} == {"Press", "Filings"}
    print("edges   ", len(folded), "of them paths", sum(not passages for passages in folded.values()))
    print("labels  ", dict(Counter(row["type"] for row in now["entities"])))
    print("types   ", dict(Counter(kind for _, kind, _ in folded)))
    print("dropped ", *(" ".join(edge) for edge in sorted(dropped)), sep="  ")
    print("callers at the hub", len(callers))
    for start in ("port-ostrava-bay", "halcyon", "meridian-freight"):
        nodes, walked = two_steps(start, folded)
        print("two steps from", start, "reach", nodes, "nodes and", walked, "edges")


if __name__ == "__main__":
    build()
    check()
