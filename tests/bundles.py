"""Writing bundles: a folder of JSON-lines files from lists of dicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]


def write_bundle(folder: Path, **files: Rows) -> Path:
    """Writes each list as `NAME.jsonl` into the folder and returns it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in files.items():
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        (folder / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def long_report(passages: int) -> dict[str, Rows]:
    """One document, whose title is its only topic, of so many passages that all mention a lighthouse."""
    return {
        "documents": [{"id": "report", "title": "The light of Ness"}],
        "passages": [
            {"id": f"p{n}", "document_id": "report", "text": f"The light of Ness burned on night {n}.", "position": n}
            for n in range(passages)
        ],
        "entities": [{"id": "light", "name": "Ness Light", "type": "Place"}],
        "mentions": [{"entity_id": "light", "passage_id": f"p{n}", "surface": "light"} for n in range(passages)],
    }


def fleet(documents: int, *, edition: str = "first") -> dict[str, Rows]:
    """A bundle of port notices: in each document one vessel calls at one of seven ports, and the passage says so."""
    ports: Rows = [{"id": f"port{n}", "name": f"Port {n}", "type": "Port"} for n in range(7)]
    vessels: Rows = [{"id": f"vessel{n}", "name": f"Vessel {n} {edition}", "type": "Vessel"} for n in range(documents)]
    rows: dict[str, Rows] = {
        "entities": ports + vessels,
        "documents": [],
        "passages": [],
        "mentions": [],
        "relations": [],
    }
    for n in range(documents):
        text = f"Vessel {n} {edition} calls at Port {n % 7}."
        rows["documents"].append({"id": f"notice{n}", "title": f"Notice {n}", "collection": "Notices"})
        rows["passages"].append({"id": f"passage{n}", "document_id": f"notice{n}", "text": text})
        rows["mentions"].append(
            {"entity_id": f"vessel{n}", "passage_id": f"passage{n}", "start": 0, "end": len(f"Vessel {n}")}
        )
        rows["mentions"].append({"entity_id": f"port{n % 7}", "passage_id": f"passage{n}"})
        rows["relations"].append(
            {"source": f"vessel{n}", "target": f"port{n % 7}", "type": "calls at", "passage_ids": [f"passage{n}"]}
        )
    return rows
