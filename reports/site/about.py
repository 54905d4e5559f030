"""`about.toml` beside the releases of a plugin: what people call it, what it was tried with, what a person knows."""

from pathlib import Path

import msgspec

from ..escape import printable
from ..model.uses import Cause

#: The name of the file, in the folder of the plugin.
ABOUT_NAME = "about.toml"


class About(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a report does not say of a plugin.

    `name` is what people call it, `storage` what it was tried with, and `likely` for which other storage the same is to
    be expected. Where nothing `lasts`, all is gone with the process. Each cause that the notes of the newest release
    confirm is a `cause`, or is `untouched`: by its number there, why no use meets it.
    """

    name: str
    storage: str = ""
    likely: str = ""
    lasts: bool = True
    cause: tuple[Cause, ...] = ()
    untouched: dict[str, str] = {}


class AboutError(Exception):
    """What is wrong with the file. The text is one sentence."""


def read_about(folder: Path) -> About:
    """What is known of the plugin of a folder, at least its name. Raises AboutError or OSError."""
    path = folder / ABOUT_NAME
    if not path.is_file():
        return About(name=folder.name)
    try:
        return msgspec.toml.decode(path.read_bytes(), type=About)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise AboutError(f"{printable(str(path))}: {printable(str(error))}") from None
