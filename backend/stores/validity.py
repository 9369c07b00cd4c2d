"""From when to when each version of a document is current, alike in every store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeVar

from backend.scope import ResolvedScope, present

K = TypeVar("K")

# The ends of time, in microseconds since 1970 UTC: of what is valid from the beginning, or not superseded.
BEGINNING, ENDLESS = -(2**63), 2**63 - 1
# The scope of what a store keeps computed: no filter, and a time after everything that has a time.
FOREVER = ResolvedScope(at=ENDLESS - 1)


def is_stored(scope: ResolvedScope, settled: int | None) -> bool:
    """Whether what is stored for `FOREVER` answers the scope: it has no filter, and every validity has begun by then.

    `settled` is the last time at which any validity begins or ends; None where what is stored may not be used.
    """
    filtered = scope.collections or scope.document_ids or scope.conditions
    return settled is not None and scope.at >= settled and not filtered


def is_present(scope: ResolvedScope, settled: int | None) -> bool:
    """Whether the scope sees just what an empty one does, of which both are answered from what is stored."""
    return is_stored(scope, settled) and is_stored(ResolvedScope(at=present()), settled)


def validity(
    versions: Sequence[tuple[int, int, K]], endings: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int, K]]:
    """Beginning, end (exclusive) and key of each of a document's versions, given as beginning, number and key.

    A version is current up to the next beginning, ties to the later number. An ending is a number and a time: the
    document was retired at that time, its versions up to the number end then, and later ones begin after it.
    """
    ordered = sorted(endings)
    lives: dict[int, list[tuple[int, int, K]]] = defaultdict(list)
    for begins, number, key in versions:
        lives[sum(after < number for after, _ in ordered)].append((begins, number, key))
    for life, members in lives.items():
        earliest = ordered[life - 1][1] + 1 if life else BEGINNING
        latest = ordered[life][1] if life < len(ordered) else ENDLESS
        yield from _life(sorted(((max(begins, earliest), n, k) for begins, n, k in members), key=_order), latest)


def _order(member: tuple[int, int, K]) -> tuple[int, int]:
    return member[:2]


def _life(members: Sequence[tuple[int, int, K]], latest: int) -> Iterator[tuple[int, int, K]]:
    followers = [begins for begins, _, _ in members[1:]]
    for (begins, _, key), following in zip(members, [*followers, ENDLESS], strict=True):
        yield begins, max(begins, min(latest, following)), key
