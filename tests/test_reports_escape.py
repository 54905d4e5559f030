"""Nothing a plugin says reaches a terminal as a command."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tffs_conformance.reports.escape import command_line, printable


@given(st.text(st.characters()))
def test_what_comes_out_steers_nothing(text: str) -> None:
    shown = printable(text)
    shown.encode("utf-8")  # no surrogate is left
    assert not [character for character in shown if unicodedata.category(character)[0] == "C"]
    assert not {"\u2028", "\u2029"} & set(shown)


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_harmless_text_stays_as_it_is(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("no such file: /a b/ü", "no such file: /a b/ü"),
        (r"C:\new", r"C:\new"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x9b31m", r"\x9b31m"),
        ("line\r\nnext\ttab", r"line\r\nnext\ttab"),
        ("\\n is not \n", r"\\n is not \n"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("tag \U000e0041", r"tag \U000e0041"),
        ("\ud800", r"\ud800"),
        ("\x00\x7f", r"\x00\x7f"),
    ],
)
def test_each_kind(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("character", "python", "bash"),
    [
        ("\x00", "\\x00", "\\u0000"),
        ("\xad", "\\xad", "\\u00ad"),
        ("\u202e", "\\u202e", "\\u202e"),
        ("\uffff", "\\uffff", "\\uffff"),
        ("\U0001000c", "\\U0001000c", "\\U0001000c"),
        ("\udc7f", "\\udc7f", "\\udc7f"),
        ("\udc80", "\\x80", "\\x80"),
        ("\udcff", "\\xff", "\\xff"),
        ("\udd00", "\\udd00", "\\udd00"),
    ],
)
def test_each_kind_of_character_has_an_escape_of_its_own(character: str, python: str, bash: str) -> None:
    assert printable(character) == python
    assert command_line([character]) == f"$'{bash}'"
