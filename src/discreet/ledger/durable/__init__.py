"""Ledgers that outlive their process, in SQLite or PostgreSQL.

Transactions, a hash chain of events, a sealed summary, migration, verification by replay, and
anchors against rollback.
"""
