"""What is quoted in a prompt: one line of JSON, so that no text can leave its data."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping


def quoted_line(data: Mapping[str, object]) -> str:
    """One line of JSON in which brackets, angle brackets and whatever draws nothing are escaped.

    So no text can end its line, close a tag, look like a marker of a chat template, or cite anything.
    """
    return "".join(_escaped(json.dumps(data, ensure_ascii=False)))


def _escaped(line: str) -> Iterator[str]:
    for character in line:
        if character in "<>[]" or unicodedata.category(character) in ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"):
            yield from (f"\\u{unit:04x}" for unit in _units(character))
        else:
            yield character


def _units(character: str) -> Iterator[int]:
    encoded = character.encode("utf-16-be", "surrogatepass")
    return (int.from_bytes(encoded[place : place + 2], "big") for place in range(0, len(encoded), 2))
