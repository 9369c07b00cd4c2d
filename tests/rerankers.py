"""A tiny cross-encoder with random weights, in a folder: what is tested is the way to it, not its judgement."""

from __future__ import annotations

from pathlib import Path

_WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "a", "of", "was", "who", "where", "ship", "light", "sea")


def write_reranker(folder: Path, *, labels: int = 1) -> Path:
    """The folder of a model that sentence-transformers loads as a cross-encoder with so many scores."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder.mkdir(parents=True)
    letters = [piece for letter in "abcdefghijklmnopqrstuvwxyz" for piece in (letter, f"##{letter}")]
    words = [*_WORDS, *(one for one in letters if one not in _WORDS)]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        initializer_range=0.7,  # far enough apart that texts get different scores
        num_labels=labels,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder
