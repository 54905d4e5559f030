"""Calls of each op with paths and a status that must succeed."""

from collections.abc import Callable, Mapping

from ...harness.ops.outcomes import Outcome
from ..engine.case import Case


def prepared(case: Case) -> None:
    """Set up the files for all calls. Return the calls by op; each may be made once."""
    case.setup.build({"file": b"content", "empty": None, "full": None, "full/file": b"content"})


SUCCESSES: Mapping[str, Callable[[Case], Outcome[object]]] = {
    "new_random_access_file": lambda case: case.fs.new_random_access_file(case.uri("file")),
    "new_writable_file": lambda case: case.fs.new_writable_file(case.uri("new")),
    "new_appendable_file": lambda case: case.fs.new_appendable_file(case.uri("file")),
    "new_read_only_memory_region_from_file": lambda case: case.fs.new_read_only_memory_region_from_file(
        case.uri("file")
    ),
    "create_dir": lambda case: case.fs.create_dir(case.uri("new")),
    "recursively_create_dir": lambda case: case.fs.recursively_create_dir(case.uri("new/inner")),
    "delete_file": lambda case: case.fs.delete_file(case.uri("file")),
    "delete_dir": lambda case: case.fs.delete_dir(case.uri("empty")),
    "delete_recursively": lambda case: case.fs.delete_recursively(case.uri("full")),
    "rename_file": lambda case: case.fs.rename_file(case.uri("file"), case.uri("new")),
    "copy_file": lambda case: case.fs.copy_file(case.uri("file"), case.uri("new")),
    "path_exists": lambda case: case.fs.path_exists(case.uri("file")),
    "stat": lambda case: case.fs.stat(case.uri("file")),
    "is_directory": lambda case: case.fs.is_directory(case.uri("empty")),
    "get_file_size": lambda case: case.fs.get_file_size(case.uri("file")),
    "get_children": lambda case: case.fs.get_children(case.uri("full")),
    "get_matching_paths": lambda case: case.fs.get_matching_paths(case.uri("full") + "/*"),
}
