"""The plugin's file, read where the hosts run, whether it loads or not."""

from ...harness.hosting import remote_file
from ...harness.shared_object import abi
from ...harness.shared_object.abi import Abi
from ...harness.shared_object.elf import NotElfError
from ...reports.model.abi import spans
from .case import Case


def content(case: Case) -> bytes:
    """What is in the file."""
    target = case.bench.target
    if target.host_command:
        return remote_file.read(case.surroundings.host, target.plugin)
    return target.plugin.read_bytes()


def abi_of(case: Case) -> Abi | None:
    """What it asks of the dynamic loader; None where it is no shared object."""
    target = case.bench.target
    try:
        return abi.read(target.plugin, content(case) if target.host_command else None)
    except NotElfError:
        return None


def advice(told: Abi | None) -> str:
    """With which runtimes a plugin loads that does not load with this one; empty for none."""
    if told is None or not told.loads:
        return ""
    return f"it loads in TensorFlow {spans(told.loads, told.releases)}: --runtime='tensorflow-cpu=={told.loads[-1]}'"
