"""One way to keep something in an SQLite file or on a PostgreSQL server: ledgers, oracles, keys.

A :class:`~discreet.storage.store.Store` is a place. It lends a
:class:`~discreet.storage.transaction.Transaction` in three ways: to ``read`` one state, to
``write`` all or nothing, and for ``single`` statements that commit by themselves. Who keeps
something derives a store with its own tables, and says who may touch the file and when a commit has
to be on disk.
"""
