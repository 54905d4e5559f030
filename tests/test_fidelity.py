"""The reference host tells the truth: fidelity.py with the newest TensorFlow and some plugins, at night with all."""

import pytest

from tests import fidelity
from tests.tensorflow.targets import PYTHON, tensorflow
from tffs_conformance.harness.shared_object import releases

#: The releases that pip offers, oldest first.
RELEASES = releases.of_c().releases


@pytest.mark.skipif(tensorflow() is None, reason=f"not run: no TensorFlow in {PYTHON}")
def test_with_the_tensorflow_that_is_here() -> None:
    assert fidelity.release(PYTHON, [("posix", ""), ("objectstore_minimal", "")]).unexplained == []


@pytest.mark.nightly
@pytest.mark.parametrize("given", RELEASES)
def test_with_a_release(given: str) -> None:
    with fidelity.installed(given) as python:
        compared = fidelity.release(python, fidelity.RIGHT)
    assert compared.release == given
    assert compared.unexplained == []


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.skipif(tensorflow() is None, reason=f"not run: no TensorFlow in {PYTHON}")
def test_with_all_fakes() -> None:
    assert fidelity.release(PYTHON, fidelity.every()).unexplained == []
