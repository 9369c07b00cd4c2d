"""The sizes beyond which a file of another tool is refused: far above what real indexes have."""

MAX_ENTRIES = 100_000  # files and folders that are looked at below a path
MAX_DEPTH = 12  # folders below a path
MAX_FILE_BYTES = 2 * 2**30  # of one file, unpacked
MAX_GRAPH_BYTES = 2**30  # of a GraphML file
MAX_ROWS = 20_000_000  # of one table
MAX_VALUES = 100_000_000  # of one table: rows, and what is in their lists
MAX_TEXT_BYTES = 4 * 2**30  # of one table in memory
MAX_NESTING = 20  # lists and objects within one cell
