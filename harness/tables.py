"""The four tables: the ops in their order, what core does where an entry is NULL, which ops change things.

Orders and defaults: filesystem_interface.h and modular_filesystem.cc.
"""

from collections.abc import Mapping

FILESYSTEM = "filesystem"
RANDOM_ACCESS_FILE = "random_access_file"
WRITABLE_FILE = "writable_file"
READ_ONLY_MEMORY_REGION = "read_only_memory_region"

#: The ops of each table, by their name on the wire; the position is the position in the table.
TABLES: Mapping[str, tuple[str, ...]] = {
    FILESYSTEM: (
        "init",
        "cleanup",
        "new_random_access_file",
        "new_writable_file",
        "new_appendable_file",
        "new_read_only_memory_region_from_file",
        "create_dir",
        "recursively_create_dir",
        "delete_file",
        "delete_dir",
        "delete_recursively",
        "rename_file",
        "copy_file",
        "path_exists",
        "paths_exist",
        "stat",
        "is_directory",
        "get_file_size",
        "translate_name",
        "get_children",
        "get_matching_paths",
        "flush_caches",
        "start_transaction",
        "end_transaction",
        "add_to_transaction",
        "get_transaction_for_path",
        "get_or_start_transaction_for_path",
        "decode_transaction_token",
        "get_filesystem_configuration",
        "set_filesystem_configuration",
        "get_filesystem_configuration_option",
        "set_filesystem_configuration_option",
        "get_filesystem_configuration_keys",
    ),
    RANDOM_ACCESS_FILE: ("random_access_file.cleanup", "read"),
    WRITABLE_FILE: ("writable_file.cleanup", "append", "tell", "flush", "sync", "close"),
    READ_ONLY_MEMORY_REGION: ("read_only_memory_region.cleanup", "data", "length"),
}

OPS: tuple[str, ...] = tuple(op for ops in TABLES.values() for op in ops)

#: The ops whose NULL entry core replaces, with the ops that the replacement calls.
DEFAULT_NEEDS: Mapping[str, tuple[str, ...]] = {
    "recursively_create_dir": ("path_exists", "is_directory", "create_dir"),
    "delete_recursively": ("path_exists", "is_directory", "get_children", "delete_file", "delete_dir"),
    "rename_file": ("copy_file", "delete_file"),
    "copy_file": ("new_random_access_file", "read", "is_directory", "new_writable_file", "append", "close"),
    "paths_exist": ("path_exists",),
    "is_directory": ("path_exists", "stat"),
    "get_file_size": ("stat",),
    "translate_name": (),
    "get_matching_paths": ("path_exists", "get_children", "is_directory"),
    "flush_caches": (),
    "flush": (),
    "sync": ("flush",),
}

#: The ops that change what a path names; the guard looks at these paths.
CHANGING: frozenset[str] = frozenset(
    {
        "new_writable_file",
        "new_appendable_file",
        "create_dir",
        "recursively_create_dir",
        "delete_file",
        "delete_dir",
        "delete_recursively",
        "rename_file",
        "copy_file",
        "add_to_transaction",
        "get_or_start_transaction_for_path",
    }
)


def available(op: str, present: frozenset[str]) -> bool:
    """Whether `op` can be performed where the ops in `present` are not NULL: itself, or through core's default."""
    if op in present:
        return True
    needs = DEFAULT_NEEDS.get(op)
    return needs is not None and all(available(need, present) for need in needs)


def asks_for_the_kind(op: str, present: frozenset[str]) -> bool:
    """Whether core's default for `op`, where it is used, asks is_directory what a path is."""
    if op in present:
        return False
    needs = DEFAULT_NEEDS.get(op, ())
    return "is_directory" in needs or any(asks_for_the_kind(need, present) for need in needs)
