"""Traversal-based search: statements reached over topics (within a source) and facts (across sources)."""
