"""What the backend asks of an encoder, of a reranker and of a vector store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

# Commands that need no vectors must not pay for NumPy's import.
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vectors: TypeAlias = "NDArray[np.float32]"
Vector: TypeAlias = "NDArray[np.float32]"


class Encoder(Protocol):
    """Turns texts into vectors of unit length."""

    @property
    def name(self) -> str:
        """What tells this encoder's vectors from another's; stored beside them."""

    @property
    def dimension(self) -> int:
        """Number of columns of every vector."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Returns one row per text, in order, float32 of unit length; a text longer than the model reads is cut."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """How many tokens its own tokenizer makes of each text, whole; of a very long text this is an estimate."""


class Reranker(Protocol):
    """Reads a question and a text together, which tells more than two vectors do and takes longer."""

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers the question, in order; greater is better, and only the order means something."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A stored vector near the one asked for; `score` is the cosine similarity, -1 to 1."""

    id: str
    score: float


class Index(Protocol):
    """Named collections of vectors, each written by one job and never again after that job's commit."""

    @property
    def max_results(self) -> int:
        """The most neighbours that one read returns."""

    def create(self, collection: str, *, kind: str, encoder: str, dimension: int) -> None:
        """Makes an empty collection; one that exists already is emptied."""

    def add(self, collection: str, ids: Sequence[str], labels: Sequence[str], vectors: Vectors) -> None:
        """Adds rows to a collection that is being written, every id once; equal vectors do best close together."""

    def seal(self, collection: str) -> None:
        """Ends the writing: readers see the collection, whole and durable, and nothing is ever added to it again."""

    def nearest(self, collection: str, vector: Vector, *, limit: int, labels: Sequence[str] = ()) -> list[Neighbour]:
        """The nearest rows, best first, ties by id; with labels, only rows of these.

        Raises IndexNotReady when the collection is not there, StoreUnreachable when the store does not answer.
        """

    def nearest_each(
        self, collection: str, vectors: Vectors, *, limit: int, labels: Sequence[str] = ()
    ) -> list[list[Neighbour]]:
        """The same for each row of a matrix, as one search."""

    def read(self, collection: str, ids: Sequence[str]) -> dict[str, Vector]:
        """The stored vectors of these ids; what is not stored is not in the result."""

    def ids(self, collection: str) -> Iterator[str]:
        """Every id of a collection, in no order."""

    def collections(self) -> dict[str, int]:
        """The complete collections with their sizes, opened and counted; a damaged one is not among them."""

    def names(self) -> list[str]:
        """Every collection of this product, half-written and damaged ones too; opens none."""

    def drop(self, collection: str) -> None:
        """Removes a collection; one that is not there is no error.

        Who has it open is answered as before, or is told that it is gone; never wrongly.
        """

    def close(self) -> None:
        """Gives back threads, files and memory; a use after that opens them again."""

    def version(self) -> str:
        """Name and version of the vector store, for people."""


def read_vectors(index: Index, wanted: Iterable[tuple[str, str]]) -> dict[str, Vector]:
    """The stored vectors by id of pairs of collection and id; one reading of each collection."""
    ids: dict[str, dict[str, None]] = defaultdict(dict)
    for collection, one in wanted:
        ids[collection][one] = None
    return {one: vector for collection in ids for one, vector in index.read(collection, list(ids[collection])).items()}
