"""A small world for tests of the service: a released model, keys, and an oracle that is a stand-in.

The stand-in keeps to what the service needs of an oracle: one answer for each row for ever, a cap,
statuses. Its noise promises nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from dataclasses import dataclass, field

import httpx
import numpy as np

from discreet import LinearClassifier
from discreet.preprocessing import Category, Numeric
from discreet.service import KeyBook, ReleasedModel, ServiceLimits, create_app
from discreet.service.answering import Answering, QueryAnswer, ServiceStanding

COLUMNS = {"age": Numeric(18, 100), "ward": Category(["surgery", "médecine", "other"])}
ROW = {"age": 47, "ward": "surgery"}
OTHER_ROW = {"age": 71.5, "ward": "médecine"}
QUICK = ServiceLimits(pad=0.0, max_rows=50, burst=10_000, rate=100_000.0)
CANARY = "quetzal7351"


def make_model():
    """Fit a small model with noise that is not private."""
    generator = np.random.default_rng(5)
    age = generator.uniform(18, 100, 400)
    ward = generator.choice(["surgery", "médecine", "other"], 400)
    X = np.column_stack([age.astype(object), ward])
    y = np.where(age > 60, "back", "home")
    columns = list(COLUMNS.values())
    model = LinearClassifier(epsilon=2.0, delta=1e-6, columns=columns, classes=["home", "back"])
    model.fit(X, y)
    model.feature_names_in_ = np.array(list(COLUMNS), dtype=object)
    return model


@dataclass
class StandIn(Answering):
    """Answers from memory, up to a cap; the promise is that of a released model."""

    model: ReleasedModel
    cap: int = 5
    failure: Exception | None = None
    known: dict[str, QueryAnswer] = field(default_factory=dict)
    computed: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    kind = "oracle"
    title = "A stand-in"

    def __post_init__(self):
        self.columns, self.classes = self.model.columns, self.model.classes
        self.guarantee = self.model.guarantee

    def card(self):
        return self.model.card()

    def answer(self, rows):
        if self.failure is not None:
            raise self.failure
        with self.lock:
            return [self._answer_one(row) for row in rows]

    def _answer_one(self, row):
        text = json.dumps(row, sort_keys=True)
        if text not in self.known:
            if len(self.known) >= self.cap:
                return QueryAnswer(None, None, None, "exhausted")
            self.computed += 1
            value = int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**31 - 1
            label = self.classes[int(value > 0)]
            self.known[text] = QueryAnswer(label, value, 0.25, "answered")
        return self.known[text]

    def standing(self):
        if self.failure is not None:
            raise self.failure
        is_over = len(self.known) >= self.cap
        return ServiceStanding("exhausted" if is_over else "open", len(self.known), self.cap)


class AppClient:
    """Sends requests to an application in this process, one at a time."""

    def __init__(self, app):
        self._runner = asyncio.Runner()
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        self._client = httpx.AsyncClient(transport=transport, base_url="http://service")
        self.headers = self._client.headers

    def request(self, method, path, **options):
        return self._runner.run(self._client.request(method, path, **options))

    def close(self):
        self._runner.run(self._client.aclose())
        self._runner.close()

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, **options):
        return self.request("POST", path, **options)


class World:
    """Services that are opened in a test, and closed after it."""

    def __init__(self, folder):
        self._folder, self._closing = folder, []

    def serve(self, answering, *, limits=QUICK, scopes=("predict", "status", "metrics"), **more):
        """Return a client of a new service with one key; its book and the key are beside it."""
        book = KeyBook(self._folder / f"keys-{len(self._closing)}.db")
        made, key = book.create_key("tests", scopes=scopes)
        client = self.serve_app(create_app(answering, book, limits=limits, **more))
        client.headers["Authorization"] = f"Bearer {key}"
        client.book, client.made, client.key = book, made, key
        self._closing.append(book)
        return client

    def serve_with(self, answering, book, key):
        """Return a client of a new service with the keys of a book."""
        client = self.serve_app(create_app(answering, book, limits=QUICK))
        client.headers["Authorization"] = f"Bearer {key}"
        return client

    def serve_app(self, app):
        """Return a client of an application."""
        client = AppClient(app)
        self._closing.append(client)
        return client

    def close(self):
        for each in self._closing:
            each.close()
