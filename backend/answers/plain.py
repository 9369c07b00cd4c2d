"""What a model wrote as plain text: asked for none, models write Markdown, and readers get neither marks nor links."""

from __future__ import annotations

import re

# A label may hold brackets one deep, an address no white space; both are bounded, so that no text takes long.
_LINK = re.compile(
    r"!?\[((?:[^\[\]\n]|\[[^\[\]\n]{0,200}\]){0,500})\]\(\s*<?([^\s()<>]{1,2000})>?(?:\s[^()\n]{0,300})?\)"
)
_EMPHASIS = re.compile(r"(\*\*|__)(?=\S)(.{1,2000}?)(?<=\S)\1")
_LINE = re.compile(r"(?m)^[ \t]*(?:#{1,6}[ \t]+|[-*•+][ \t]+|>[ \t]?|(\d{1,2})[.)][ \t]+)")
_FENCE = re.compile(r"(?m)^[ \t]*(?:```+|~~~+)[\w-]*[ \t]*$")
# Control and format characters draw nothing, and could turn the direction of what stands around them; a tab and the
# ends of lines are white space.
_INVISIBLE = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def plain(text: str) -> str:
    """The words without the marks of Markdown; a link or an image is its label with the address in parentheses.

    HTML stays, as the text that it is. Numbers of a list go when they count from 1, since nothing states them.
    """
    visible = _INVISIBLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    unfenced = _FENCE.sub("", visible)
    unlinked = _LINK.sub(_label, unfenced)
    return _EMPHASIS.sub(r"\2", _without_line_marks(unlinked))


def _label(link: re.Match[str]) -> str:
    label, address = link[1].strip(), link[2]
    return f"{label} ({address})" if label else f"({address})"


def _without_line_marks(text: str) -> str:
    counted = 0

    def replace(mark: re.Match[str]) -> str:
        nonlocal counted
        if mark[1] is None:
            return ""
        if int(mark[1]) not in (1, counted + 1):
            return mark[0]  # a day or a year at the beginning of a line
        counted = int(mark[1])
        return ""

    return _LINE.sub(replace, text)
