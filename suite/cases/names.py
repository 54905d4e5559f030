"""Names of files and directories that plugins get wrong, each in a way of its own."""

import os
import re
from collections.abc import Mapping

#: A name of bytes that are not UTF-8, as Python writes them in a str (surrogateescape).
_NOT_UTF8 = b"\xff\xfe\x80".decode("utf-8", "surrogateescape")

#: The name that nothing is special about, by its label. What goes wrong with it, too, is no fault of another name.
PLAIN = "plain"

NAMES: Mapping[str, str] = {
    PLAIN: PLAIN,
    "one-byte": "n",
    "15-bytes": "n" * 15,
    "16-bytes": "n" * 16,
    "17-bytes": "n" * 17,
    "255-bytes": "n" * 255,
    "256-bytes": "n" * 256,
    "space": "a b",
    "leading-space": " a",
    "trailing-space": "a ",
    "percent": "100%",
    "percent-escape": "a%20b",
    "percent-slash": "a%2Fb",
    "percent-letter": "%41",
    "directives": "%s%d%%n",
    "entities": "a&amp;b&lt;",
    "hash": "a#b",
    "question-mark": "a?b",
    "ampersand": "a&b=c",
    "plus": "a+b",
    "at": "a@b",
    "colon": "a:b",
    "semicolon": "a;b",
    "comma": "a,b",
    "tilde": "~",
    "dollar": "$HOME",
    "double-quote": 'a"b',
    "single-quote": "a'b",
    "backquote": "a`b",
    "backslash": "a\\b",
    "pipe": "a|b",
    "angles": "<a>",
    "newline": "a\nb",
    "tab": "a\tb",
    "control-bytes": "a\x01\x7fb",
    "star": "a*b",
    "brackets": "a[b]c",
    "braces": "a{b,c}",
    "bang": "!a",
    "dash": "-a",
    "composed": "\u00e9t\u00e9",
    "decomposed": "e\u0301te\u0301",
    "wide": "\u6587\u4ef6",
    "outside-the-plane": "\U0001f4c1",
    "not-utf-8": _NOT_UTF8,
    "three-dots": "...",
    "two-dots-and-more": "..data",
    "leading-dot": ".a",
    "trailing-dot": "a.",
    "like-a-scheme": "a:",
    "upper-case": "NAME",
}

#: Names that together make one, so that what each of them does wrong shows in it.
TOGETHER: Mapping[str, tuple[str, ...]] = {
    "special": ("percent", "percent-escape", "percent-slash", "percent-letter", "directives", "entities", "hash",
                "question-mark", "ampersand", "plus", "at", "colon", "semicolon", "comma", "space",
                "star", "brackets", "braces", "bang", "backslash", "dollar", "double-quote", "single-quote",
                "backquote", "pipe", "angles"),
    "beyond-ascii": ("composed", "decomposed", "wide", "outside-the-plane", "not-utf-8", "newline", "tab",
                     "control-bytes"),
}  # fmt: skip

#: Names whose ends are odd. What a pattern makes of a dot at the beginning is disputed.
ENDS = ("leading-space", "trailing-space", "trailing-dot", "dash", "tilde", "like-a-scheme")

#: What the filesystems of Linux take, in bytes.
MOST_BYTES = 255

#: Names that share their beginning with `name`. A plugin that lists by prefix mixes them up.
LOOK_ALIKES = ("names", "name-s", "name.s", "nam", "name s", "name~", ".name")


def siblings(name: str) -> tuple[str, ...]:
    """Names that a plugin may take for this one: one begins with the other, or it is what a pattern matches."""
    matched = re.sub(r"\[(.)[^]]*\]", r"\1", name.replace("*", "x").replace("?", "x"))
    found = {f"{name}-1", name[:-1] if matched == name else matched} - {name, "", ".", ".."}
    return tuple(sorted(one for one in found if len(os.fsencode(one)) <= MOST_BYTES))


def escaped(name: str) -> str:
    """The pattern that matches exactly this name: its special characters are escaped."""
    return "".join("\\" + character if character in "*?[]\\" else character for character in name)
