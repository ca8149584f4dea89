"""Engines of SQLAlchemy that write no statement's parameters to any log.

What is stored may be secret: the state of an oracle is. ``sqlalchemy.engine`` at the level of INFO
writes parameters, and at that of DEBUG the lines that are read.
"""

from __future__ import annotations

import logging
from typing import Any

import sqlalchemy as sql

NAME = "discreet"

logging.getLogger(f"sqlalchemy.engine.Engine.{NAME}").setLevel(logging.CRITICAL + 1)


def make_quiet_engine(address: str | sql.URL, **options: Any) -> sql.Engine:
    """Return an engine whose statements are logged nowhere and quoted in no error."""
    return sql.create_engine(address, logging_name=NAME, hide_parameters=True, **options)
