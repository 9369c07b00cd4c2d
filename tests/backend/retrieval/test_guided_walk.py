"""The guided walk, and the names that it begins from."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.errors import IndexNotReady, Malformed
from backend.explorer import Explorer
from backend.models import Catalog, Scope
from backend.questions import Question, Retrieval
from backend.retrieval.names import ALIAS, EXACT, FUZZY, QuestionNames, names_in
from backend.retrieval.reader import Reader
from backend.scope import resolve
from backend.settings import Settings
from tests.bundles import Rows, write_bundle
from tests.encoders import LettersEncoder
from tests.worlds import ExactIndex, open_store

# Who directed a film is in one document, where that person was born in another.
FILMS: dict[str, Rows] = {
    "documents": [
        {"id": "film", "title": "The Grey Gull"},
        {"id": "director", "title": "Mara Lind"},
        {"id": "other", "title": "The Grey Goose"},
        {"id": "noise", "title": "Weather"},
    ],
    "passages": [
        {
            "id": "film1",
            "document_id": "film",
            "text": "The Grey Gull is a film of 1951. It was directed by Mara Lind.",
        },
        {"id": "director1", "document_id": "director", "text": "Mara Lind was born in Oslo. She kept goats."},
        {"id": "other1", "document_id": "other", "text": "The Grey Goose is a play of 1951 by Ulf Berg."},
        {"id": "noise1", "document_id": "noise", "text": "It rained in Bergen."},
    ],
    "entities": [
        {"id": "gull", "name": "The Grey Gull", "type": "Film", "aliases": ["Grey Gull"]},
        {"id": "mara", "name": "Mara Lind", "type": "Person"},
        {"id": "oslo", "name": "Oslo", "type": "Place"},
        {"id": "goose", "name": "The Grey Goose", "type": "Play"},
        {"id": "ulf", "name": "Ulf Berg", "type": "Person"},
    ],
    "mentions": [
        {"entity_id": "gull", "passage_id": "film1"},
        {"entity_id": "mara", "passage_id": "film1"},
        {"entity_id": "mara", "passage_id": "director1"},
        {"entity_id": "oslo", "passage_id": "director1"},
        {"entity_id": "goose", "passage_id": "other1"},
        {"entity_id": "ulf", "passage_id": "other1"},
    ],
    "relations": [
        {"source": "gull", "target": "mara", "type": "directed_by", "passage_ids": ["film1"]},
        {"source": "mara", "target": "oslo", "type": "born_in", "passage_ids": ["director1"]},
    ],
}


@pytest.fixture
def films(explorer: Explorer, folder: Path) -> Explorer:
    explorer.load([write_bundle(folder / "films", **FILMS)], dataset="films")
    return explorer


def walk(explorer: Explorer, text: str, **fields: object) -> Retrieval:
    return explorer.retrieve(Question(text, strategy="guided-walk", **fields))  # type: ignore[arg-type]


def named(explorer: Explorer, text: str) -> QuestionNames:
    def read(view: object) -> QuestionNames:
        reader = Reader(
            view,  # type: ignore[arg-type]
            Question(text),
            resolve(Scope()),
            explorer.catalog(),
            explorer.index_store,
            explorer.encoder,
        )
        return names_in(reader)

    return explorer.store.read(read)


def test_a_second_hop_is_found_and_the_way_to_it_is_told(films: Explorer) -> None:
    found = walk(films, "Where was the director of The Grey Gull born?")
    assert set(found.ranked[:2]) == {"film1", "director1"}
    (second,) = [item for item in found.evidence if item.passage.source_id == "director1"]
    assert second.why[0] == "the question names The Grey Gull"
    assert any("Mara Lind" in step for step in second.why)
    assert second.sentences


def test_the_strategy_says_what_it_chose_and_each_step_what_it_found(films: Explorer) -> None:
    found = films.retrieve(Question("Who directed The Grey Gull?"))
    assert (found.strategy.asked, found.strategy.chosen) == ("automatic", "guided-walk")
    assert found.strategy.why
    assert [step.name for step in found.steps][:2] == ["names in the question", "passages near to the question"]
    assert found.entities[0].name == "Mara Lind"


def test_a_question_without_names_is_answered_from_what_is_like_it(films: Explorer) -> None:
    assert walk(films, "did it rain").evidence


@pytest.mark.parametrize(
    ("text", "words", "channel"),
    [
        ("Who made the grey gull?", "the grey gull", EXACT),
        ("Who made Grey Gull?", "grey gull", ALIAS),
        ("Who made The Grey Gulll?", "grey gulll", FUZZY),
        ("Where was MARA LIND born?", "mara lind", EXACT),
    ],
)
def test_names_are_found_whole_by_alias_and_mistyped(films: Explorer, text: str, words: str, channel: str) -> None:
    found = named(films, text)
    assert [(name.words, [how for _, how in name.entities]) for name in found.names] == [(words, [channel])]
    assert words not in found.rest


def test_the_rest_of_a_question_is_what_names_nothing(films: Explorer) -> None:
    found = named(films, "Where was the director of The Grey Gull born?")
    assert found.rest == "where was the director of born"
    assert found.keywords == ("the grey gull", "director", "born")


@pytest.mark.parametrize("strategy", ["", "best", "guided_walk"])
def test_an_unknown_strategy_is_malformed_and_names_the_known_ones(films: Explorer, strategy: str) -> None:
    with pytest.raises(Malformed) as raised:
        films.retrieve(Question("Who?", strategy=strategy))
    assert "guided-walk" in raised.value.hint


def test_without_passage_vectors_an_index_is_not_ready_and_names_do_not_need_them(
    folder: Path, store_place: str
) -> None:
    store = open_store(store_place, folder / "home")
    index, encoder = ExactIndex(), LettersEncoder()
    settings = Settings(home=folder / "home", indexes=())
    explorer = Explorer(store, index=lambda: index, encoder=lambda: encoder, settings=settings)
    explorer.load([write_bundle(folder / "films", **FILMS)], dataset="films")
    missing = {status.index for status in _without_label(explorer.catalog()) if status.state != "online"}
    assert missing == {"chunk", "topic", "statement"}
    with pytest.raises(IndexNotReady) as raised:
        walk(explorer, "Who directed The Grey Gull?")
    assert (raised.value.details["index"], raised.value.details["remedy"]) == ("chunk", "attest index")
    explorer.close()


def _without_label(catalog: Catalog) -> list[object]:
    return [status for status in catalog.indexes if not status.label]
