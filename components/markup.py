"""The only place that makes HTML, or Markdown labels, out of text from documents: names, titles, passages, metadata.

All such text is data. It is escaped here once, and characters that could act on what surrounds them (control
characters, overrides of the text's direction) are shown as what they are.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence

from backend.models import Span

_KIND_LIMIT = 40
_NAME_LIMIT = 120  # code points of a name on one line; a name may be 100 KB long
_EXCERPT_LEAD = 45  # code points before the first mention, where an excerpt does not begin at the beginning
_EXCERPT_LIMIT = 420

_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SHOWN = (
    {code: f"[U+{code:04X}]" for code in (*range(0x20), *range(0x7F, 0xA0), *_DIRECTIONS)}
    | {0x09: "\t", 0x0A: "\n", 0x0D: " ", 0x85: "\n", 0x2028: "\n", 0x2029: "\n"}
    | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
)
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_ARROWS = re.compile(r"(?<=[-<>~])(?=\\[-<>=])")  # Streamlit draws "->", "<=", "--", ... as one character
_JOINER = "\u2060"  # takes no room and keeps two characters apart


class Html(str):
    """HTML that was made here; any other text is escaped before it becomes part of it."""

    __slots__ = ()


def visible(text: str) -> str:
    """The text with control characters and direction overrides as characters that can be seen and do nothing."""
    return text.translate(_SHOWN)


def plain(text: str, limit: int = _NAME_LIMIT) -> str:
    """The text on one line, for widgets that show plain text; cut to `limit` code points."""
    line = " ".join(visible(text[: 4 * limit]).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def label(text: str, limit: int = _NAME_LIMIT) -> str:
    """The text on one line, for widgets whose labels are Markdown; it reads as `plain` shows it."""
    escaped = _PUNCTUATION.sub(lambda found: "\\" + found[0], plain(text, limit))
    return _ARROWS.sub(_JOINER, escaped).replace("\\:", "\\:" + _JOINER)


def escape(text: str) -> Html:
    """The text as HTML; what is HTML already is left as it is."""
    return text if isinstance(text, Html) else Html(html.escape(visible(text)))


def tag(name: str, *children: str, css: str = "", role: str = "") -> Html:
    """An element with its children, each of which is escaped unless it is HTML."""
    attributes = (("class", css), ("role", role))
    written = "".join(f' {key}="{html.escape(value)}"' for key, value in attributes if value)
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def join(parts: Iterable[str], separator: str = "") -> Html:
    """The parts one after another, each escaped unless it is HTML."""
    return Html(escape(separator).join(escape(part) for part in parts))


def name(text: str, spans: Sequence[Span] = (), limit: int = _NAME_LIMIT) -> Html:
    """A name, cut to `limit` code points, isolated so that its direction is its own; `spans` of it are marked."""
    short = text if len(text) <= limit else text[: limit - 1] + "…"
    return tag("bdi", marked(short, spans), css="at-name")


def kind(label: str) -> Html:
    """The label of an entity or the type of a relation, beside a name."""
    return tag("small", name(label, limit=_KIND_LIMIT))


def marked(text: str, spans: Iterable[Span]) -> Html:
    """The text whole, with the spans (code points, end exclusive) as `mark` elements; overlapping ones become one."""
    parts: list[str] = []
    done = 0
    for start, end in _merged(spans, len(text)):
        parts += (text[done:start], tag("mark", text[start:end]))
        done = end
    return join((*parts, text[done:]))


def passage_text(text: str, spans: Sequence[Span], sentences: Iterable[Span] = ()) -> Html:
    """A passage as it is read: whole, its lines kept, mentions marked, these sentences of it underlined."""
    parts: list[Html] = []
    done = 0
    for start, end in _merged(sentences, len(text)):
        parts += (_piece(text, done, start, spans), tag("span", _piece(text, start, end, spans), css="at-sentence"))
        done = end
    body = join((*parts, _piece(text, done, len(text), spans)))
    return tag("p", tag("bdi", body), css="at-text")


def citation(number: int, title: str) -> Html:
    """The number of evidence, which leads to its `anchor` on the same page."""
    told = html.escape(plain(title))
    return Html(f'<a class="at-cite" href="#evidence-{number}" title="{told}">{number}</a>')


def anchor(number: int) -> Html:
    """Where a `citation` leads."""
    return Html(f'<span id="evidence-{number}" class="at-anchor" tabindex="-1"></span>')


def excerpt(text: str, spans: Sequence[Span]) -> Html:
    """The part of a passage around its first mention, for a list of hits; the pane beside it has the whole."""
    start = _excerpt_start(text, spans)
    end = min(len(text), start + _EXCERPT_LIMIT)
    moved = [(max(0, first - start), last - start) for first, last in spans if last > start and first < end]
    body = marked(text[start:end], moved)
    return tag("p", "… " if start else "", body, " …" if end < len(text) else "", css="at-excerpt")


def facts(fields: Iterable[tuple[str, str]]) -> Html:
    """Names and values, as a description list; empty values are left out."""
    rows = [
        tag("div", tag("dt", name(key, limit=_KIND_LIMIT)), tag("dd", tag("bdi", value)))
        for key, value in fields
        if value
    ]
    return tag("dl", *rows, css="at-facts")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, numbers_from: int | None = None) -> Html:
    """A table, each row headed by its first cell; cells from `numbers_from` on are numbers and stand to the right."""

    def css(column: int) -> str:
        return "at-number" if numbers_from is not None and column >= numbers_from else ""

    head = tag("tr", *(tag("th", text, css=css(column)) for column, text in enumerate(heads)))
    body = [
        tag("tr", *(tag("td" if column else "th", name(text), css=css(column)) for column, text in enumerate(row)))
        for row in rows
    ]
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body), css="at-table"), css="at-table-frame")


def _piece(text: str, start: int, end: int, spans: Iterable[Span]) -> Html:
    return marked(text[start:end], [(first - start, last - start) for first, last in spans])


def _excerpt_start(text: str, spans: Sequence[Span]) -> int:
    """Where an excerpt begins: at the beginning, or at a word some way before the first mention."""
    first = min((start for start, _ in spans), default=0)
    if first <= 2 * _EXCERPT_LEAD:
        return 0
    start = max(0, first - _EXCERPT_LEAD)
    space = text.find(" ", start, first)
    return space + 1 if space >= 0 else start


def _merged(spans: Iterable[Span], length: int) -> Iterator[Span]:
    """The spans in order, clipped to the text, overlapping ones as one."""
    current: Span | None = None
    for start, end in sorted(spans):
        start, end = max(0, start), min(length, end)
        if start >= end:
            continue
        if current is not None and start < current[1]:
            current = (current[0], max(current[1], end))
            continue
        if current is not None:
            yield current
        current = (start, end)
    if current is not None:
        yield current
