"""A Ray cluster for the tests of worker pools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from proof_r1_formal.workers.cluster import PRIVATE
from tests.build import ROOT

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster


@pytest.fixture(scope="package")
def cluster() -> Iterator[Cluster]:
    """A cluster of two nodes with a processor each, all on this machine."""
    pytest.importorskip("ray", reason="Ray is not installed")
    with pytest.MonkeyPatch.context() as environment:
        for name, value in PRIVATE.items():
            environment.setenv(name, value)
        environment.delenv("RAY_ADDRESS", raising=False)
        environment.setenv("PYTHONPATH", str(ROOT), prepend=":")  # its workers import the tests' tasks
        from ray.cluster_utils import Cluster

        environment.setattr("ray._private.ray_constants.ENABLE_RAY_CLUSTER", False)  # Ray may have been imported before
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        try:
            cluster.add_node(num_cpus=1)
            yield cluster
        finally:
            cluster.shutdown()
