"""The four tables of ops, the ops that core replaces where an entry is NULL, and the ops that change files.

Source: TensorFlow's filesystem_interface.h for the order, modular_filesystem.cc for the defaults.
"""

from collections.abc import Container, Mapping

FILESYSTEM = "filesystem"
RANDOM_ACCESS_FILE = "random_access_file"
WRITABLE_FILE = "writable_file"
READ_ONLY_MEMORY_REGION = "read_only_memory_region"

#: The ops of each table in the order of its entries. Files and regions have ops of the same name, so some are
#: qualified: `writable_file.cleanup`.
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

#: The ops that core replaces where the entry is NULL, each with the ops that core then calls.
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

#: The ops that change files or directories. The guard looks at their paths.
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


def available(op: str, present: frozenset[str], unimplemented: Container[str] = ()) -> bool:
    """Whether `op` can be performed by the plugin or by core's default.

    `present` holds the ops that are not NULL. Those in `unimplemented` only refuse: core asks them and has no default.
    """
    if op in unimplemented:
        return False
    if op in present:
        return True
    needs = DEFAULT_NEEDS.get(op)
    return needs is not None and all(available(need, present, unimplemented) for need in needs)


def asks_for_the_kind(op: str, present: frozenset[str]) -> bool:
    """Whether core's default for `op` calls is_directory."""
    if op in present:
        return False
    needs = DEFAULT_NEEDS.get(op, ())
    return "is_directory" in needs or any(asks_for_the_kind(need, present) for need in needs)
