"""The shared object, read before anybody loads it: what its dynamic loader would be told."""

from ...harness.shared_object import releases
from ...harness.shared_object.elf import NotElfError, SharedObject, read
from ...reports.model.abi import spans
from ..engine.case import Case
from ..engine.marks import clauses, over_tables
from ..engine.plugin_file import content

pytestmark = over_tables


def shared_object(case: Case) -> SharedObject:
    """What the plugin's file says of itself, read where the hosts run."""
    try:
        return read(content(case))
    except NotElfError as error:
        case.blocked("dlopen", f"{case.bench.target.plugin.name} is no shared object: {error}")


@clauses("registration.loads-in-every-release")
def test_symbols(case: Case) -> None:
    """The functions of TensorFlow that the plugin needs are those of its releases."""
    known, every = releases.functions_of_c(), releases.of_c().releases
    wanting = {name: [release for release in every if release not in known[name]]
               for name in sorted(shared_object(case).needed & known.keys())}  # fmt: skip
    lacking = [f"{name}: not in {spans(absent, every)}" for name, absent in wanting.items() if absent]
    case.check.equal("registration.loads-in-every-release", "functions that a release lacks", [], lacking)


@clauses("registration.no-executable-stack", "registration.no-text-relocations", "registration.no-static-tls")
def test_loading(case: Case) -> None:
    """The loader need not do what hardened or large processes refuse."""
    plugin = shared_object(case)
    case.check.equal("registration.no-executable-stack", "executable stack", False, plugin.executable_stack)
    case.check.equal("registration.no-text-relocations", "text relocations", False, plugin.text_relocations)
    case.check.equal("registration.no-static-tls", "static thread-local storage", False, plugin.static_tls)


@clauses("registration.run-path-is-relative")
def test_run_path(case: Case) -> None:
    """The libraries that the plugin brings are found wherever it lies."""
    absolute = [path for path in shared_object(case).run_path if not path.startswith(("$ORIGIN", "${ORIGIN}"))]
    case.check.equal("registration.run-path-is-relative", "directories of one machine", [], absolute)


@clauses("registration.exports-init-only")
def test_exports(case: Case) -> None:
    """Nothing of the plugin can be taken for a symbol of somebody else."""
    more = sorted(shared_object(case).exported - {"TF_InitPlugin"})
    case.check.equal("registration.exports-init-only", "other exported symbols", [], more)


@clauses("registration.c-library")
def test_c_library(case: Case) -> None:
    """The version of glibc that the plugin needs is noted."""
    case.check.note("registration.c-library", f"glibc {shared_object(case).glibc or 'of any version'}")
