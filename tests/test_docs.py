"""The documents: every command that a page shows is run and answers as shown, every link leads somewhere, and the words
of pages, messages, names and commits are plain.

The commands of a page run in one shell, in an empty directory, from top to bottom, between the files that the page
shows; tests/transcript.py has the rules.
"""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import transcript
from tests.pages import PROJECT, Block, blocks, leads_somewhere, links, name, pages, prose

#: tests/fresh_machine.py runs the first for each change, the second at night; the third takes a whole run.
AT_NIGHT = {"docs/start.md", "docs/site.md"}
RUN = [
    pytest.param(page, marks=pytest.mark.nightly) if name(page) in AT_NIGHT else page
    for page in pages()
    if any(block.commands and not block.not_run for block in blocks(page))
]
LEFT_OUT = [(page, block) for page in pages() for block in blocks(page) if block.not_run]


def environment() -> dict[str, str]:
    """A person's own: the installed package's commands first, and nothing of the pytest that runs this test."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "COV_", "GITHUB_"))}
    commands = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    # The order of cases is ours to show, whatever plugins are installed beside; so is the width.
    return kept | {"PATH": commands, "COLUMNS": "100", "PYTEST_ADDOPTS": "-p no:randomly -p no:cacheprovider"}


#: Pages that show what was measured. On a machine that is busy beside a growth may not be seen, as the page says.
TRIES = {"docs/conditions.md": 3}


@pytest.mark.long
@pytest.mark.parametrize("page", RUN, ids=name)
def test_commands_of(page: Path, tmp_path: Path) -> None:
    for number in range(TRIES.get(name(page), 1)):
        wrong = performed(page, tmp_path / str(number))
        if not wrong:
            return
    pytest.fail(wrong, pytrace=False)


def performed(page: Path, folder: Path) -> str:
    """What differs from what the page shows when its commands are run in an empty folder; nothing where all is so."""
    empty, files = folder / "empty", folder / "files"
    empty.mkdir(parents=True)
    files.mkdir()
    text, commands = transcript.script(blocks(page), files)
    ran = subprocess.run(
        ["bash", "-c", text], cwd=empty, env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=900, check=False,
    )  # fmt: skip
    return transcript.difference(transcript.read(ran.stdout, commands))


@pytest.mark.parametrize(("page", "block"), LEFT_OUT, ids=[f"{name(page)}:{block.line}" for page, block in LEFT_OUT])
def test_commands_left_out(page: Path, block: Block) -> None:
    # Counted, and named by `pytest -rx`. It is no skip: nothing that could be installed here would let it run.
    pytest.xfail(f"not run: {name(page)}:{block.line} {block.not_run}")


@pytest.mark.parametrize("page", pages(), ids=name)
def test_links_of(page: Path) -> None:
    assert [link for link in links(page) if not leads_somewhere(page, link)] == []


def test_every_page_is_in_the_index() -> None:
    index = next(page for page in pages() if name(page) == "docs/README.md")
    listed = {(index.parent / link).resolve() for link in links(index) if link.endswith(".md")}
    missing = [name(page) for page in index.parent.glob("*.md") if page != index and page not in listed]
    assert not missing, f"add a line to docs/README.md for each of these: {missing}"


#: A file in a comment: its folders, and its name. Those of TensorFlow are not here.
FILE = re.compile(r"(?<![\w/.*{<-])((?:[\w-]+/)*)([\w-]+\.(?:py|cc|h|toml|tsv|md|mk|cmake))\b")
OF_TENSORFLOW = {"env.h", "filesystem_interface.h", "modular_filesystem_registration.cc"}


def test_files_that_comments_name_exist() -> None:
    files = [path for room in OLD_NAMES for path in (PROJECT / room).rglob("*.*") if path.is_file()]
    names = OF_TENSORFLOW | {path.name for path in (*files, *PROJECT.iterdir(), *PROJECT.glob("docs/*"))}
    gone = [
        f"{path.relative_to(PROJECT)}: {folders}{file}"
        for path in files
        if path.suffix in {".py", ".cc", ".h"}
        for comment in re.findall(r"^\s*(?:#:?|//) (.*)", path.read_text(), re.MULTILINE)
        for folders, file in FILE.findall(comment)
        if file not in names and not folders.startswith("tensorflow/")
    ]
    assert gone == []


# Plain words ----------------------------------------------------------------------------------------------------------

#: What hides the subject, the number or the order of a sentence. `nobody yet` is in published notes.
VAGUE = re.compile(
    r"\b([Tt]old|[Tt]ells|[Ww]ho(ever)?|[Nn]obody(?! yet)|[Ss]omebody|[Ss]o many|[Ff]or want of"
    r"|(?<!no )[Ss]uch(?! as)|(?<!eft )(?<!eave )[Bb]ehind)\b"
)
#: The same in names, where a noun says more, and how many names of each room have one. A number may only go down.
VAGUE_IN_NAMES = re.compile("told|tells|held|kept|met|made|seen|who|nobody|somebody|such|most|longest")
OLD_NAMES = {
    "benchmarks": 2, "harness": 21, "packaging": 0, "reference_plugins": 3, "reports": 29, "suite": 40, "tests": 136,
    "tffs_conformance": 15, "third_party": 1,
}  # fmt: skip
IMPERATIVE = re.compile(
    r"(?!(The|An?|What|Where|No|Docs)\b)(Bring|Embed|Need|Speed|[A-Z][a-z-]+(?<!ed)(?<!ing)(?<![^s]s))\b(?!:).*[^.]"
)


@pytest.mark.parametrize("page", pages(), ids=name)
def test_page_is_plain(page: Path) -> None:
    assert [text for text in prose(page) if VAGUE.search(text)] == []


def test_pages_are_short() -> None:
    words = {name(page): len(page.read_text().split()) for page in pages() if page.name != "CHANGELOG.md"}
    assert sum(words.values()) <= 25_000
    assert [page for page, number in words.items() if number > 2_700 and page != "docs/report-keys.md"] == []


@pytest.mark.parametrize("room", OLD_NAMES)
def test_messages_and_new_names_are_plain(room: str) -> None:
    messages, names = list[str](), set[str]()
    for path in (PROJECT / room).rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text())))
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            match node:
                case ast.Constant(value=str() as text) if " " in text and id(node) not in docstrings:
                    messages += [f"{path}:{node.lineno}: {text}"] if VAGUE.search(text) else []
                case ast.FunctionDef(name=text) | ast.ClassDef(name=text) | ast.arg(arg=text):
                    names.add(text)
                case ast.Name(id=text, ctx=ast.Store()):
                    names.add(text)
    assert room == "tests" or messages == []
    parts = {one: re.findall("[A-Z]?[a-z]+|[A-Z]+", one) for one in names}
    vague = [one for one in names if any(VAGUE_IN_NAMES.fullmatch(part.lower()) for part in parts[one])]
    assert len(vague) <= OLD_NAMES[room], f"choose nouns for the names that are new among {sorted(vague)}"


def test_last_commits_have_imperative_subjects() -> None:
    log = ["git", "-C", str(PROJECT), "log", "-50", "--no-merges", "--format=%s"]
    ran = subprocess.run(log, capture_output=True, text=True, check=False)
    if ran.returncode:
        pytest.skip("there is no history of git")
    assert [line for line in ran.stdout.splitlines() if len(line) > 72 or not IMPERATIVE.fullmatch(line)] == []
