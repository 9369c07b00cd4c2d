"""Finding evidence for a question: strategies above the stores, each of which explains what it found."""
