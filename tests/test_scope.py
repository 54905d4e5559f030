"""What is told without loading anything, compared with what becomes of plugins in a process with TensorFlow."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.tensorflow.targets import PYTHON, environment, tensorflow
from tests.test_abi import library
from tffs_conformance.harness.native import RUNTIME_NAME, native_directory
from tffs_conformance.harness.shared_object import abi, releases
from tffs_conformance.harness.shared_object.releases import LIBRARIES
from tffs_conformance.harness.targets.shipped import plugin_path

pytestmark = [
    pytest.mark.skipif(tensorflow() is None, reason=f"not run: no TensorFlow in {PYTHON}"),
    pytest.mark.skipif(
        tensorflow() is not None and (tensorflow() or ("", ""))[1] not in releases.of_c().releases,
        reason="not run: the tables do not have this release of TensorFlow",
    ),
]

#: Prints which of these symbols the process has and which of these libraries it loads.
ASK = """
import ctypes, json, os, sys
import tensorflow
symbols, plugins = json.loads(sys.argv[1])
everybody = ctypes.CDLL(None)
said = {symbol: hasattr(everybody, symbol) for symbol in symbols}
for plugin in plugins:
    try:
        ctypes.CDLL(plugin, mode=os.RTLD_NOW)
        said[plugin] = True
    except OSError:
        said[plugin] = False
print(json.dumps(said))
"""


def asked(symbols: list[str], plugins: list[Path]) -> Mapping[str, bool]:
    given = json.dumps([symbols, [str(plugin) for plugin in plugins]])
    done = subprocess.run([PYTHON, "-c", ASK, given], env=environment(), capture_output=True, text=True, check=True)
    said: dict[str, bool] = json.loads(done.stdout)
    return said


@pytest.fixture
def bit() -> int:
    """What stands for the TensorFlow of these tests in the numbers of a table."""
    found = tensorflow()
    assert found is not None
    return 1 << releases.of_c().releases.index(found[1])


def test_the_table_has_the_global_scope(bit: int) -> None:
    table = releases.whole()
    only = {}
    for k, name in enumerate(LIBRARIES):
        having = (
            symbol for symbol, bits in table.symbols.items() if [b & bit for b in bits].count(0) == 2 and bits[k] & bit
        )
        only[name] = next(having, None)
    said = asked([symbol for symbol in only.values() if symbol], [])
    scope = {name: bool(bits & bit) for name, bits in zip(LIBRARIES, table.scope, strict=True)}
    assert said == {symbol: scope[name] for name, symbol in only.items() if symbol}


def test_a_plugin_loads_where_that_is_told(bit: int, tmp_path: Path) -> None:
    names = ("TF_NewStatus", "TF_VLog", "TF_Never", "_ZN3tsl5mutex4lockEv", "TF_NewGraph")
    plugins = [plugin_path(name) for name in ("posix", "objectstore", "dragonfly")]
    for name in names:
        code = f"void {name}(void); void use(void) {{ {name}(); }}"
        plugins += [
            library(tmp_path, f"alone-{name}.so", code),
            library(tmp_path, f"linked-{name}.so", code, f"-L{native_directory()}", f"-l:{RUNTIME_NAME}"),
        ]
    plugins = [plugin for plugin in plugins if plugin.exists()]
    (release,) = releases.of_c().named(bit)
    assert asked([], plugins) == {str(plugin): release in abi.read(plugin).loads for plugin in plugins}
