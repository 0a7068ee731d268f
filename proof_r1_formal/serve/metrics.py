"""What the service counts, for Prometheus: requests and their times, jobs, workers and what waits."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from proof_r1_formal.serve.pool import Pool

MEDIA_TYPE = CONTENT_TYPE_LATEST
"""Of what :meth:`Metrics.page` writes."""

_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)  # seconds


class Metrics:
    """The counts of one service.

    Args:
        pool: its workers.
    """

    def __init__(self, pool: Pool) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._registry.register(_PoolCollector(pool))
        self._requests = Counter(
            "proof_r1_requests", "Requests answered.", ("route", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "proof_r1_request_seconds", "Time from head to reply.", ("route",), buckets=_BOUNDS, registry=self._registry
        )
        self.unsupported = Counter(
            "proof_r1_unsupported_steps", "Steps whose verdict on entailment has no evidence.", registry=self._registry
        )

    def answered(self, route: str, status: int, seconds: float) -> None:
        """A request was answered; ``route`` is a path of the service, not what a client wrote."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def page(self) -> bytes:
        """All counts."""
        return generate_latest(self._registry)


class _PoolCollector(Collector):
    """What the pool knows, when it is asked."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def collect(self) -> Iterator[Metric]:
        pool = self._pool
        yield GaugeMetricFamily("proof_r1_workers", "Running worker processes.", value=len(pool.workers))
        yield GaugeMetricFamily("proof_r1_waiting_jobs", "Jobs that wait for a worker.", value=pool.waiting)
        yield CounterMetricFamily("proof_r1_jobs", "Jobs given to workers.", value=pool.counts.tasks)
        restarts, renewals = pool.counts.restarts, pool.counts.renewals
        yield CounterMetricFamily("proof_r1_worker_restarts", "Workers that died or hung, replaced.", value=restarts)
        yield CounterMetricFamily("proof_r1_worker_renewals", "Workers that grew too large, replaced.", value=renewals)
