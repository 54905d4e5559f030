"""Docker, for the tests that need it."""

from typing import Any

import pytest

from tests.topology import COMPOSE, REQUIRED
from tffs_conformance.harness import services
from tffs_conformance.harness.services import Missing


@pytest.fixture(scope="session")
def docker() -> Any:
    try:
        client = services.connect()
        for service in services.read(COMPOSE).services:
            if not client.images.list(service.image):
                raise Missing(f"docker has no image {service.image}: {COMPOSE.parent / 'build_images.py'} builds it")
    except Missing as missing:
        if REQUIRED:
            raise
        pytest.skip(str(missing))
    return client
