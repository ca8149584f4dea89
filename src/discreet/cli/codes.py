"""Exit codes."""

DONE = 0
REFUSED = 1
"""Over budget, refuted, unsound: understood, and not done."""

WRONG_INPUT = 2
"""A command, an option, a schema or a table is not as it must be."""

FILES = 3
"""The operating system or the ledger could not read or write."""

BUG = 70
INTERRUPTED = 130
