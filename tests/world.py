"""The world small enough to remember: eight entities, ten relations, three documents, two versions of one.

Ida Berg keeps the North Light and writes letters. The Petrel and the Gannet are ships; the harbour register said of
the Gannet that Old Salvage owns it, until a new version of the register said that Skerry Line does. So Old Salvage has
become unsupported, and the relation that only the first register stated is dropped. Tomás commands the Petrel, on the
word of two documents; that Ida knows him nobody wrote down. 神戸港 (Kobe) is where the Petrel calls.

    salvage --MERGED_INTO--> line --OWNS--> petrel, gannet      ida --KEEPS--> light --NEAR--> kobe
    petrel --CALLS_AT--> kobe     tomas --COMMANDS--> petrel    ida --KNOWS--> tomas
"""

from __future__ import annotations

from backend.identity import edge_id, stable_id
from tests.model import Load, Row

DATASET = "harbour"

ENTITIES: list[Row] = [
    {"id": "ida", "name": "Ida Berg", "type": "Person", "aliases": ["the keeper"], "description": "Keeps the light."},
    {"id": "tomas", "name": "Tomás Oliveira", "type": "Person"},
    {"id": "petrel", "name": "Petrel", "type": "Vessel", "aliases": ["MV Petrel"]},
    {"id": "gannet", "name": "Gannet", "type": "Vessel"},
    {"id": "light", "name": "North Light", "type": "Place"},
    {"id": "kobe", "name": "神戸港", "type": "Place", "aliases": ["Port of Kobe"]},
    {"id": "line", "name": "Skerry Line", "type": "Company", "aliases": ["Skerry Shipping"]},
    {"id": "salvage", "name": "Old Salvage", "type": "Company"},
]

_PASSAGES: dict[str, list[tuple[str, str]]] = {
    # document and version: (passage, text with its mentions in brackets as [entity|surface])
    "register 1": [
        ("r0", "[line|Skerry Line] owns the [petrel|Petrel], which calls at [kobe|神戸港]."),
        ("r1", "[salvage|Old Salvage] owns the [gannet|Gannet]."),
    ],
    "register 2": [
        ("r0", "[line|Skerry Line] owns the [petrel|Petrel], which calls at [kobe|神戸港]."),
        ("r1", "[line|Skerry Line] owns the [gannet|Gannet]."),
    ],
    "letter": [
        ("l0", "I, [ida|Ida Berg], keep the [light|North Light]. The [light|light] has burned all winter."),
        ("l1", "[tomas|Tomás Oliveira] took the [petrel|Petrel] out at dawn."),
    ],
    "gazette": [
        ("g0", "The [petrel|MV Petrel] of [line|Skerry Line], under [tomas|Captain Oliveira], is late."),
        ("g1", "The [gannet|Gannet] was seen off the [light|North Light]."),
    ],
}
_DOCUMENTS: dict[str, Row] = {
    "register 1": {"id": "register", "title": "Harbour register", "collection": "records", "valid_from": "2021-03-01"},
    "register 2": {"id": "register", "title": "Harbour register", "collection": "records", "valid_from": "2022-03-01"},
    "letter": {"id": "letter", "title": "Letter from the light", "collection": "letters", "author": "Ida Berg"},
    "gazette": {
        "id": "gazette",
        "title": "The Gazette",
        "collection": "press",
        "metadata": {"issue": 12, "tags": ["sea"]},
    },
}
_RELATIONS: dict[str, tuple[str, str, str, list[str]]] = {
    "owns-petrel": ("line", "OWNS", "petrel", ["r0"]),
    "owns-petrel-too": ("line", "OWNS", "petrel", ["g0"]),
    "calls": ("petrel", "CALLS_AT", "kobe", ["r0"]),
    "keeps": ("ida", "KEEPS", "light", ["l0"]),
    "commands": ("tomas", "COMMANDS", "petrel", ["l1", "g0"]),
    "knows": ("ida", "KNOWS", "tomas", []),
    "near": ("light", "NEAR", "kobe", []),
    "merged": ("salvage", "MERGED_INTO", "line", []),
    "owned-gannet": ("salvage", "OWNS", "gannet", ["r1"]),  # as only the first register says
    "owns-gannet": ("line", "OWNS", "gannet", ["r1"]),  # as only the second says
}


def _load(documents: list[str], relations: list[str], entities: list[Row]) -> Load:
    passages, mentions = [], []
    for document in documents:
        for passage_id, marked in _PASSAGES[document]:
            text = ""
            for piece in marked.replace("]", "[").split("["):
                entity, bar, surface = piece.partition("|")
                if bar:
                    mentions.append(
                        {
                            "entity_id": entity,
                            "passage_id": passage_id,
                            "surface": surface,
                            "start": len(text),
                            "end": len(text) + len(surface),
                        }
                    )
                text += surface if bar else piece
            passages.append({"id": passage_id, "document_id": _DOCUMENTS[document]["id"], "text": text})
    rows = [
        {"id": name, "source": source, "type": kind, "target": target, "passage_ids": support}
        for name, (source, kind, target, support) in _RELATIONS.items()
        if name in relations
    ]
    return Load(DATASET, [_DOCUMENTS[name] for name in documents], passages, entities, mentions, rows)


FIRST = _load(["register 1", "letter", "gazette"], [name for name in _RELATIONS if name != "owns-gannet"], ENTITIES)
SECOND = _load(["register 2"], ["owns-petrel", "calls", "owns-gannet"], [])
SMALL_WORLD = (FIRST, SECOND)


def entity(name: str, dataset: str = DATASET) -> str:
    """The id of an entity of the small world by its source id."""
    return stable_id("entity", dataset, name)


def document(name: str, dataset: str = DATASET) -> str:
    """The id of a document of the small world by its source id."""
    return stable_id("document", dataset, name)


def edge(source: str, name: str, target: str) -> str:
    """The id of an edge of the small world."""
    return edge_id(entity(source), name, entity(target))
