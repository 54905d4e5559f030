"""No secret is told, in whatever form it is written; what is no secret is told."""

import base64
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.records import record
from tffs_conformance.reports.model.records import CheckRecord
from tffs_conformance.reports.model.redaction import Redaction, looks_secret, passwords
from tffs_conformance.reports.model.verdicts import Verdict

SECRET_NAMES = (
    "SECRET AWS_SECRET_ACCESS_KEY TOKEN HF_TOKEN PASSWORD MYSQL_PWD PASSWD DB_PASS PGPASSWORD PGPASSFILE AUTH"
    " BASIC_AUTH CONNECTION_STRING AZURE_STORAGE_CONNECTION_STRING APIKEY API_KEY MYKEY GOOGLE_APPLICATION_CREDENTIALS"
    " sas db.password SSH_PASSPHRASE"
)
OTHER_NAMES = "KEYSTORE_TYPE ENDPOINT REGION AUTHOR PASSENGERS HOME MONKEYS_AT"


@pytest.mark.parametrize("name", [*SECRET_NAMES.split(), *OTHER_NAMES.split()])
def test_names_that_look_secret(name: str) -> None:
    assert looks_secret(name) is (name in SECRET_NAMES.split())
    assert looks_secret(name, "postgres://me:hunter22@db/x")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("s3://me:hunter22@bucket", ["hunter22"]),
        ("http://:hunter22@host:80/x and ftp://a:b@c", ["hunter22", "b"]),
        ("http://host:80/a@b", []),
        ("file:///tmp/a:b@c", []),
        ("me@host", []),
    ],
)
def test_passwords_in_urls(text: str, found: list[str]) -> None:
    assert passwords(text) == found


@pytest.mark.parametrize(
    ("redaction", "text", "shown"),
    [
        # Of two secrets the longer one is found whole.
        (Redaction({"A": "hunter", "B": "hunter22"}), "hunter22 hunter", "<B> <A>"),
        # A password in a URL is one wherever it stands.
        (Redaction({}, ["s3://me:hunter22@bucket/{path}"]), "401 for hunter22", "401 for <password>"),
        # Short values are words, and no secrets.
        (Redaction({"A": "abc", "B": ""}), "abc", "abc"),
    ],
)
def test_what_is_a_secret_is_replaced(redaction: Redaction, text: str, shown: str) -> None:
    assert redaction.text(text) == shown
    assert redaction.data(b"\xff " + text.encode() + b" \x00") == b"\xff " + shown.encode() + b" \x00"


def test_every_text_of_a_record_and_no_name() -> None:
    check = CheckRecord("read.succeeds", Verdict.VIOLATION, "e read", "g read", "read", "p read")
    texts: dict[str, Any] = {"reason": "r read", "stimulus": "s read", "ops": ("o read",), "output": "read"}
    before = record("read/a", Verdict.VIOLATION, check, **texts)
    after = Redaction({"T": "read"}).record(before)
    (told,) = after.checks
    names = (after.id, after.clauses, told.clause, told.reading)
    assert names == ("read/a", ("read.succeeds",), "read.succeeds", "read")
    said = (told.expected, told.got, told.plugin_said, after.reason, after.stimulus, *after.ops, after.output)
    assert said == ("e <T>", "g <T>", "p <T>", "r <T>", "s <T>", "o <T>", "<T>")
    assert Redaction({}).record(before) is before


@pytest.mark.parametrize(
    "value",
    [
        'a "b\\c/\u00e9',
        'with "quotes"',
        "two\nlines",
        "back\\slash",
        "caf\u00e9",
        "it's",
        "one\x01two",
        'caf\u00e9 "x"',
    ],
)
def test_secret_is_found_in_each_form(value: str) -> None:
    redaction = Redaction({"N": value})
    for form in (value, quote(value, safe=""), base64.b64encode(value.encode()).decode()):
        assert redaction.text(f"x {form} y") == "x <N> y"
    assert redaction.text(json.dumps(value)) == redaction.text(json.dumps(value, ensure_ascii=False)) == '"<N>"'
    assert redaction.text(repr(value))[1:-1] == "<N>"


@pytest.mark.parametrize("secret", ["wJalr+secret/of=tests-0123456789", 'it\'s "caf\u00e9" \\ with\nmuch more'])
@pytest.mark.parametrize(
    "form",
    [str, repr, json.dumps, lambda text: repr(text.encode()), lambda text: repr(text.encode() + b"\"'"), quote],
    ids=["text", "repr", "json", "bytes", "quotes", "url"],
)
def test_eight_characters_of_a_secret_are_one_and_seven_are_none(secret: str, form: Callable[[str], str]) -> None:
    redaction = Redaction({"T": secret})
    for begin in range(len(secret) - 7):
        for end in range(begin + 8, len(secret) + 1):
            told, written = redaction.text(f"x{form(secret[begin:end])}y"), form(secret)[1:-1]
            assert not any(written[at : at + 8] in told for at in range(len(written) - 7))
    assert redaction.text(f"x {secret[:7]} y") == f"x {secret[:7]} y"
    assert redaction.data(f"x {secret[3:20]} y".encode()) == b"x <T> y"
