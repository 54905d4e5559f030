"""The loader, with a stand-in for TensorFlow and programs that open it; test_tensorflow.py has the real one."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tensorflow.targets import LOADER
from tffs_conformance.harness.native import native_directory
from tffs_conformance.harness.targets.shipped import plugin_path

PRELOAD = native_directory() / LOADER

#: What all texts begin with.
HEAD = "".join(f"#include <{name}.h>\n" for name in ("dlfcn", "pthread", "stdio", "string", "unistd"))
#: What the loader calls. A plugin named `slow` starts a thread that opens a library, and waits for it, as plugins may.
TENSORFLOW = """
static int code;
static int registered;
void *TF_NewStatus(void) { return &code; }
void TF_DeleteStatus(void *status) { (void)status; }
int TF_GetCode(const void *status) { return *(const int *)status; }
const char *TF_Message(const void *status) { (void)status; return "no\\nsuch\\nplugin"; }
static void *Open(void *name) { return dlopen(name, RTLD_NOW); }
void TF_RegisterFilesystemPlugin(const char *path, void *status) {
  *(int *)status = strstr(path, "missing") ? 5 : 0;
  if (strstr(path, "slow")) {
    pthread_t thread;
    usleep(50000);
    pthread_create(&thread, 0, Open, "libm.so.6");
    pthread_join(thread, 0);
  }
  if (*(int *)status == 0) ++registered;
  dprintf(1, "asked for %s\\n", path);
}
int Registered(void) { return registered; }
"""
Compile = Callable[..., Path]


@pytest.fixture
def build(tmp_path: Path) -> Compile:
    """Compiles a text to a library or program of this name in the test's folder."""

    def compiled(name: str, text: str, *options: str) -> Path:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        kind = ["-shared", "-fPIC"] if name.endswith(".so") else []
        command = ["cc", "-o", str(tmp_path / name), *kind, "-xc", "-", "-xnone", *options, "-pthread", "-ldl"]
        subprocess.run(command, input=HEAD + text, text=True, check=True)
        return tmp_path / name

    return compiled


@pytest.fixture
def tensorflow(build: Compile) -> Path:
    return build("libtensorflow.so", TENSORFLOW)


def run(
    program: Path, *arguments: object, plugins: str = "/a.so:/b.so", log: str = "", preload: bool = True
) -> tuple[str, str]:
    more = {"DRAGONFLY_PLUGIN_PATH": plugins, "DRAGONFLY_LOADER_LOG": log}
    more |= {"LD_PRELOAD": str(PRELOAD)} if preload else {}
    command = [str(program), *map(str, arguments)]
    done = subprocess.run(command, env=os.environ | more, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


OPENS = """
int main(int argc, char **argv) {
  for (int k = 1; k < argc; ++k) {
    void *library = dlopen(argv[k], RTLD_NOW | RTLD_LOCAL);
    const char *error = dlerror();
    printf("%s\\n", library && !error ? "opened" : error);
    fflush(stdout);
  }
}
"""


def test_it_registers_once_when_tensorflow_is_opened(build: Compile, tensorflow: Path) -> None:
    said, wrong = run(build("opens", OPENS), "libm.so.6", tensorflow, "libm.so.6", tensorflow)
    assert said.split("\n")[:-1] == ["opened", "asked for /a.so", "asked for /b.so", "opened", "opened", "opened"]
    assert wrong == ""


def test_what_the_opened_library_depends_on_counts(build: Compile, tensorflow: Path) -> None:
    binding = build("libbinding.so", "", "-Wl,--no-as-needed", f"-L{tensorflow.parent}", "-ltensorflow",
                    f"-Wl,-rpath,{tensorflow.parent}")  # fmt: skip
    assert run(build("opens", OPENS), binding)[0].count("asked for") == 2


def test_tensorflow_opened_by_a_constructor(build: Compile, tensorflow: Path) -> None:
    # The plugin starts a thread that opens a library: were it registered in the constructor, that would never end.
    text = f"""
    __attribute__((constructor)) static void Construct(void) {{
      dlopen("{tensorflow}", RTLD_NOW);
      dprintf(1, "constructed\\n");
    }}
    """
    said, _ = run(build("opens", OPENS), build("libnested.so", text), plugins="/slow.so")
    assert said.split("\n")[:-1] == ["constructed", "asked for /slow.so", "opened"]


def test_who_opens_tensorflow_finds_the_plugins_registered(build: Compile, tensorflow: Path) -> None:
    text = """
    static pthread_barrier_t barrier;
    static void *Open(void *name) {
      pthread_barrier_wait(&barrier);
      void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      dprintf(1, "%d registered\\n", ((int (*)(void))dlsym(library, "Registered"))());
      return 0;
    }
    int main(int argc, char **argv) {
      (void)argc;
      pthread_t threads[8];
      pthread_barrier_init(&barrier, 0, 8);
      for (int k = 0; k < 8; ++k) pthread_create(&threads[k], 0, Open, argv[1]);
      for (int k = 0; k < 8; ++k) pthread_join(threads[k], 0);
    }
    """
    said, _ = run(build("threads", text), tensorflow, plugins="/slow.so:/b.so")
    assert sorted(said.splitlines()) == ["2 registered"] * 8 + ["asked for /b.so", "asked for /slow.so"]


def test_a_program_with_tensorflow_in_it_has_the_plugins_before_main(build: Compile) -> None:
    # As a server into which TensorFlow is linked, with its functions in the dynamic table.
    text = TENSORFLOW + 'int main(void) { dprintf(1, "main: %d registered\\n", Registered()); }'
    said, _ = run(build("server", text, "-rdynamic"))
    assert said.splitlines()[-1] == "main: 2 registered"
    # Without the table nobody can find them, and who asks is told.
    said, wrong = run(build("closed", text), log="1")
    assert said == "main: 0 registered\n"
    assert wrong == (
        "tffs_loader: /a.so:/b.so: not registered: nothing in this process has TF_RegisterFilesystemPlugin\n"
    )


def test_a_plugin_in_a_program_with_tensorflow_in_it(tmp_path: Path) -> None:
    clone = Path(__file__).parents[1]
    sources = [clone / "tests" / "tensorflow" / "server.cc", *(clone / "harness" / "runtime").glob("*.cc")]
    command: list[str | Path] = ["g++", "-std=c++17", "-rdynamic"]
    command += [f"-I{clone / 'harness' / 'include'}", *sources, "-pthread", "-ldl"]
    subprocess.run([*command, "-o", tmp_path / "server"], check=True)
    file = tmp_path / "file"
    file.write_bytes(b"seven !")
    plugins = f"{plugin_path('posix')}:{plugin_path('memory')}"
    said, wrong = run(tmp_path / "server", f"posix://{file}", f"posix://{tmp_path}/no", plugins=plugins)
    assert said.splitlines() == [
        "scheme posix",
        "scheme memory",
        f"posix://{file}: code 0, 7 bytes, 7 read",
        f"posix://{tmp_path}/no: code 5, 0 bytes, 0 read",
    ]
    assert wrong == ""


def test_linked_instead_of_preloaded(build: Compile, tensorflow: Path) -> None:
    header = Path(__file__).parents[1] / "reference_plugins" / "dragonfly" / "loader"
    own = ["-Wl,--no-as-needed", str(PRELOAD), f"-Wl,-rpath,{PRELOAD.parent}:{tensorflow.parent}", f"-I{header}"]
    text = """#include "loader.h"
    int main(int argc, char **argv) {
      dprintf(1, "%d in main\\n", TFFS_RegisterPlugins());
      if (argc > 1) dlopen(argv[1], RTLD_NOW);
      dprintf(1, "%d at the end\\n", TFFS_RegisterPlugins());
    }
    """
    linked = build("linked", text, *own, str(tensorflow))
    said, _ = run(linked, preload=False)
    assert said.splitlines()[2:] == ["2 in main", "2 at the end"]
    said, wrong = run(build("opening", text, *own), tensorflow, preload=False, plugins="/missing.so:/b.so")
    assert said.splitlines() == ["-1 in main", "asked for /missing.so", "asked for /b.so", "1 at the end"]
    assert wrong == "tffs_loader: /missing.so: not registered: no such plugin (code 5)\n"


def test_nothing_to_register(build: Compile, tensorflow: Path) -> None:
    opens = build("opens", OPENS)
    for plugins in ("", ":", "::"):
        assert run(opens, tensorflow, plugins=plugins) == ("opened\n", "")
    said, wrong = run(opens, tensorflow, plugins=":/a.so:", log="1")
    assert said == "asked for /a.so\nopened\n"
    assert wrong == "tffs_loader: /a.so: registered\n"


@pytest.mark.parametrize("path", ["rpath", "runpath"])
def test_libraries_are_found_where_their_caller_looks(build: Compile, tmp_path: Path, path: str) -> None:
    for name in ("found", "origin"):
        build(f"private/lib{name}.so", f"const char *Where(void) {{ return {name!r}; }}".replace("'", '"'))
    text = """
    void Look(void) {
      const char *names[] = {"libfound.so", "$ORIGIN/private/liborigin.so", "${ORIGIN}/private/liborigin.so",
                             "libnowhere.so", "$ORIGIN/nowhere.so", "libm.so.6", 0};
      for (int k = 0; k < 7; ++k) {
        void *library = dlopen(names[k], RTLD_NOW);
        const char *error = dlerror();
        void *where = library ? dlsym(library, "Where") : 0;
        printf("%s\\n", where ? ((const char *(*)(void))where)() : error ? error : "another");
      }
    }
    """
    tags = "--disable-new-dtags" if path == "rpath" else "--enable-new-dtags"
    looks = build("liblooks.so", text, f"-Wl,{tags},-rpath,$ORIGIN/private")
    program = build("looks", "void Look(void); int main(void) { Look(); }", str(looks), f"-Wl,-rpath,{tmp_path}")
    with_loader, without = run(program), run(program, preload=False)
    # What is not found is called by the path that was looked at.
    assert with_loader[0].replace(f"{tmp_path}/nowhere", "$ORIGIN/nowhere") == without[0]
    assert without[0].splitlines()[:3] == ["found", "origin", "origin"]
    assert without[0].count("No such file") == 2


def test_it_needs_the_c_library_and_nothing_else() -> None:
    # It is there before everything else: a C++ library that came with it would be everybody's.
    elf = subprocess.run(["readelf", "-d", PRELOAD], capture_output=True, text=True, check=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[([^.\]]+)", elf)
    assert needed
    assert set(needed) <= {"libc", "libdl", "libpthread", "ld-linux-x86-64", "ld-linux-aarch64"}
