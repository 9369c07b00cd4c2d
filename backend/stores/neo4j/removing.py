"""Removing a dataset or a document: what goes with it, and making it unseen in the commit's transaction."""

from __future__ import annotations

from backend.errors import Unavailable
from backend.stores.neo4j import statements
from backend.stores.neo4j.driver import Reading, Writing
from backend.stores.neo4j.schema import (
    CHUNK,
    CLAIM,
    CLAIMED_IN,
    COMMUNITY,
    DATASET,
    DOCUMENT,
    EDGE,
    ENTITY,
    HAS_PART,
    HAS_TOPIC,
    MENTIONED_IN,
    NEVER,
    OBJECT,
    RELATION,
    STATED_IN,
    SUBJECT,
    TOPIC,
    TOUCHED,
    text_key,
)
from backend.stores.neo4j.visibility import written


def counts_of_dataset(reading: Reading, dataset: str, commit: int) -> dict[str, int]:
    """What removing a dataset takes; raises Unavailable for an unknown one."""
    known = sorted(row["name"] for row in reading.peek(f"MATCH (k:{DATASET}) RETURN k.name AS name"))
    if dataset not in known:
        raise Unavailable(
            f"There is no dataset {dataset!r}.", hint=f"There is: {', '.join(known) or 'none yet'}.", known=known
        )
    asked = {"dataset": dataset, "commit": commit}
    return reading.peek(statements.COUNT_OF_DATASET, asked)[0]


def remove_dataset(transaction: Writing, dataset: str) -> None:
    """Makes everything of the dataset unseen; `sweep` deletes it, and finds it by this mark."""
    for label in (DOCUMENT, ENTITY, CLAIM, COMMUNITY):
        transaction.run(
            f"MATCH (n:{label}) WHERE n.dataset = $dataset SET n.since = $never, n.vectors = null",
            {"dataset": dataset, "never": NEVER},
        )
    transaction.run(f"MATCH (k:{DATASET} {{id: $id}}) DELETE k", {"id": text_key(dataset)})


# What only one document holds: relations that nothing else states, `entities` that nothing else mentions, and the
# relations around these.
_ONLY_OF_DOCUMENT = f"""
CALL () {{
    MATCH (v:{DOCUMENT} {{id: $id}})-[:{HAS_PART}]->(:{CHUNK})<-[:{STATED_IN}]-(r:{RELATION})
    WITH DISTINCT r WHERE NOT r.unstated AND NOT EXISTS {{
        MATCH (r)-[:{STATED_IN}]->(p:{CHUNK}) WHERE p.document <> $id
    }}
    RETURN collect(r) AS stated
}}
CALL () {{
    MATCH (v:{DOCUMENT} {{id: $id}})-[:{HAS_PART}]->(:{CHUNK})<-[:{MENTIONED_IN}]-(n:{ENTITY})
    WITH DISTINCT n WHERE NOT EXISTS {{ MATCH (n)-[:{MENTIONED_IN}]->(p:{CHUNK}) WHERE p.document <> $id }}
    RETURN collect(n) AS entities
}}
CALL (entities) {{
    UNWIND entities AS n MATCH (n)-[t]-(:{ENTITY}) WITH DISTINCT t.id AS edge
    MATCH (r:{RELATION} {{edge: edge}}) RETURN collect(r) AS around
}}
"""


# Claims that nothing else states, and those about its entities.
_CLAIMS_OF_DOCUMENT = f"""
CALL (entities) {{
    MATCH (:{DOCUMENT} {{id: $id}})-[:{HAS_PART}]->(:{CHUNK})<-[:{CLAIMED_IN}]-(k:{CLAIM})
    WITH DISTINCT k WHERE NOT k.unstated AND NOT EXISTS {{
        MATCH (k)-[:{CLAIMED_IN}]->(p:{CHUNK}) WHERE p.document <> $id
    }}
    RETURN k
    UNION
    UNWIND entities AS n MATCH (k:{CLAIM})-[:{SUBJECT}|{OBJECT}]->(n) RETURN k
}}
"""


def dataset_of_document(reading: Reading, document: str, commit: int) -> str:
    """The dataset that the document is of; raises Unavailable for an unknown one."""
    rows = reading.peek(
        f"MATCH (v:{DOCUMENT} {{id: $id}}) WHERE {written('v')} RETURN v.dataset AS dataset",
        {"id": document, "commit": commit},
    )
    if not rows:
        raise Unavailable(f"There is no document {document!r}.", hint="`attest show` looks ids up.")
    return str(rows[0]["dataset"])


def counts_of_document(reading: Reading, document: str) -> dict[str, int]:
    """What removing a document takes."""
    (row,) = reading.peek(
        f"""{_ONLY_OF_DOCUMENT} WITH entities, stated + around AS relations
            RETURN size(entities) AS entities,
                COUNT {{ UNWIND relations AS r RETURN DISTINCT r }} AS relations""",
        {"id": document},
    )
    return {"documents": 1, "entities": row["entities"], "relations": row["relations"]}


def remove_document(transaction: Writing, document: str) -> None:
    """Deletes every version of a document with what only they held, and marks what else they touched."""
    asked = {"id": document}
    transaction.run(
        f"""MATCH (:{DOCUMENT} {{id: $id}})-[:{HAS_PART}]->(p:{CHUNK})
            CALL (p) {{ MATCH (p)<-[:{MENTIONED_IN}]-(n:{ENTITY}) SET n:{TOUCHED} }}
            CALL (p) {{ MATCH (p)<-[s:{STATED_IN}]-() MATCH (x:{EDGE} {{id: s.edge}}) SET x:{TOUCHED} }}""",
        asked,
    )
    transaction.run(
        f"""{_ONLY_OF_DOCUMENT}
            CALL (stated, around) {{
                UNWIND stated + around AS r WITH DISTINCT r
                CALL (r) {{ MATCH (x:{EDGE} {{id: r.edge}}) SET x:{TOUCHED} }}
                DETACH DELETE r
            }}
            CALL (entities) {{ {_CLAIMS_OF_DOCUMENT} DETACH DELETE k }}
            CALL (entities) {{ UNWIND entities AS n DETACH DELETE n }}""",
        asked,
    )
    for part, label in ((HAS_PART, CHUNK), (HAS_TOPIC, TOPIC)):
        transaction.run(f"MATCH (:{DOCUMENT} {{id: $id}})-[:{part}]->(n:{label}) DETACH DELETE n", asked)
    transaction.run(f"MATCH (v:{DOCUMENT} {{id: $id}}) DETACH DELETE v", asked)
