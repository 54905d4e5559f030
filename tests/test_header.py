"""The header stands alone in C11 and in C++17, and its layouts hold (static assertions)."""

import subprocess
from pathlib import Path

import pytest

HEADER = Path(__file__).parent.parent / "harness" / "include" / "tf_filesystem_plugin.h"
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only")


@pytest.mark.parametrize("compiler", [("cc", "-std=c11", "-xc"), ("c++", "-std=c++17", "-xc++")], ids=["c11", "c++17"])
def test_compiles(compiler: tuple[str, ...]) -> None:
    subprocess.run([*compiler, *STRICT, str(HEADER)], check=True)


@pytest.mark.parametrize("compiler", [("cc", "-std=c11", "-xc"), ("c++", "-std=c++17", "-xc++")], ids=["c11", "c++17"])
def test_may_be_included_twice(compiler: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "twice").write_text(f'#include "{HEADER}"\n#include "{HEADER}"\n')
    subprocess.run([*compiler, *STRICT, str(tmp_path / "twice")], check=True)


@pytest.mark.parametrize("field", ["int64_t other;\n  int64_t length;", "char length[16];"])
def test_a_wrong_layout_does_not_compile(tmp_path: Path, field: str) -> None:
    """The assertions bite: with one field more in front, nothing fits."""
    text = HEADER.read_text()
    broken = text.replace("int64_t length;", field)
    assert broken != text
    (tmp_path / "broken.h").write_text(broken)
    done = subprocess.run(
        ["cc", "-std=c11", "-xc", "-fsyntax-only", str(tmp_path / "broken.h")], capture_output=True, check=False
    )
    assert done.returncode != 0
