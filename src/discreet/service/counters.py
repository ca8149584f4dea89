"""Counters of a service for Prometheus: requests, rows, what is left; no value and no time of work.

Memory, processor time and the time that answers took are left out on purpose: they depend on how
many records were learnt from.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector

from discreet.service.answering import ServiceStanding

disable_created_metrics()  # type: ignore[no-untyped-call]  # the time at which something was first counted

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable by which several workers share what they count; read when they start."""


class ServiceCounters:
    """What one worker counts; the page shows what all of them did.

    Examples
    --------
    >>> counters = ServiceCounters(is_shared=False)
    >>> counters.count_request("/predict", 200)
    >>> b'discreet_requests_total{route="/predict",status="200"} 1.0' in counters.page(None)
    True
    """

    def __init__(self, *, is_shared: bool) -> None:
        self._is_shared = is_shared
        self._own = CollectorRegistry()
        self._requests = Counter(
            "discreet_requests",
            "Requests by route and status.",
            ["route", "status"],
            registry=self._own,
        )
        self._rows = Counter(
            "discreet_rows", "Rows that were answered, by status.", ["status"], registry=self._own
        )
        self._overruns = Counter(
            "discreet_pad_overruns",
            "Requests whose work took longer than one pad: the pad is too short.",
            registry=self._own,
        )

    def count_request(self, route: str, status: int) -> None:
        """Count a request that was responded to."""
        self._requests.labels(route=route, status=str(status)).inc()

    def count_rows(self, status: str) -> None:
        """Count a row that was answered."""
        self._rows.labels(status=status).inc()

    def count_overrun(self) -> None:
        """Count a request that took longer than one pad."""
        self._overruns.inc()

    def page(self, standing: ServiceStanding | None) -> bytes:
        """Return all counters as Prometheus reads them."""
        shown = self._own
        if self._is_shared:
            shown = CollectorRegistry()
            MultiProcessCollector(shown)  # type: ignore[no-untyped-call]
        left = CollectorRegistry()
        left.register(_Left(standing))
        return generate_latest(shown) + generate_latest(left)


class _Left:
    """What is left of an oracle, as it is when somebody looks."""

    def __init__(self, standing: ServiceStanding | None) -> None:
        self._standing = standing

    def collect(self) -> Iterator[Any]:
        standing = self._standing
        if standing is None or standing.max_answers is None or standing.n_answers is None:
            return
        for name, words, value in (
            ("discreet_answers", "Different rows that were answered.", standing.n_answers),
            ("discreet_answers_most", "Different rows that may be answered.", standing.max_answers),
        ):
            yield GaugeMetricFamily(name, words, value=value)
