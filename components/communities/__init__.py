"""The views of communities: the hierarchy as a tree and as a picture, one community, and what a question finds."""
