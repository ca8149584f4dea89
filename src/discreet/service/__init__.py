"""A service that answers questions over HTTP, from a released model or a private oracle.

Names are imported when they are first asked for: the web packages (extra ``serve``) are needed by
:func:`create_app` alone, and :class:`Client` needs nothing of the service.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet._lazy import lazy_names

if TYPE_CHECKING:
    from discreet.service.answering import Answering as Answering
    from discreet.service.answering import QueryAnswer as QueryAnswer
    from discreet.service.application import create_app as create_app
    from discreet.service.client import Client as Client
    from discreet.service.client import ClientAnswer as ClientAnswer
    from discreet.service.client import ServiceRefused as ServiceRefused
    from discreet.service.key_book import KeyBook as KeyBook
    from discreet.service.released_model import ReleasedModel as ReleasedModel
    from discreet.service.service_limits import ServiceLimits as ServiceLimits

_HOMES = {
    "Answering": "answering",
    "Client": "client",
    "ClientAnswer": "client",
    "KeyBook": "key_book",
    "QueryAnswer": "answering",
    "ReleasedModel": "released_model",
    "ServiceLimits": "service_limits",
    "ServiceRefused": "client",
    "create_app": "application",
}
"""Where each public name lives."""

__all__ = list(_HOMES)

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
