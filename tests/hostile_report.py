"""A report that means harm: every text that a report can hold says what some reader of it might obey.

Whatever is shown of a report, in whichever form, is tried on this one: it must come out as text. A text is changed
alike wherever it stands, so that the report agrees with itself and is read like any other.
"""

import datetime
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, inspect
from msgspec.structs import replace

from tests.records import COSTS, HEADER, NO_LUCK, case, record, waiver
from tffs_conformance.reports.model.claims import StatedClaim
from tffs_conformance.reports.model.costs import Costs
from tffs_conformance.reports.model.header import Header, digest
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord, Ending, StatementKind
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.services import Figure, Figures
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.reports.plain import plain, typed
from tffs_conformance.suite.judge.reports import build

#: What a reader might obey: each is harmless where it is text.
HARM = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "</code></pre></details></style></textarea></title>",
    "<!-- --> ]]> <![CDATA[ <?xml?> <!DOCTYPE x [<!ENTITY e 'e'>]> &e; &amp; &#60;b&#62; &lt;i&gt;",
    "'\"`` ``` ```` ~~~~",
    "[link](https://evil.invalid) ![image](https://evil.invalid/x.png) <https://evil.invalid>",
    "[a]: https://evil.invalid https://evil.invalid www.evil.invalid mailto:a@evil.invalid a@evil.invalid",
    "javascript:alert(1) data:text/html,x",
    "@everyone @evil/team #1 GH-1 evil/repo#1 5ecfa3d5ecfa3d5ecfa3d5ecfa3d5ecfa3d5ecfa :smile: !1 ~label $x$",
    "**bold** __bold__ *it* _it_ ~~gone~~ | a | b | \\| {0} {{1}} {% x %} ${x} $(x) %0A%25",
    "\n\n# heading\n\n- item\n1. item\n> quote\n\n    code\n\n---\n===\n|a|\n|-|\n|b|\n<details>\n```\n~~~\n",
    "\n::error::x\n::set-env name=PATH::x\n  ::add-mask::e\n::stop-commands::t\n##[add-mask]e\n",
    "\r::error::x\r\n##[error]x",
    "\x1b[31m\x1b]0;title\x07\x1b]8;;https://evil.invalid\x07\x9b31m\x7f\b\f\v",
    "\u202e\u2066\u200f\u200b\ufeff\U000e0041\u2028\u2029\x85",
    "\0\ufffe\uffff\U0001fffe\ue000",
    "\udcff\udc80 \ud800 \udfff \U0001f600",
    "=1+1 ; rm -rf ~ && `x`",
)
#: All of it: what is put around every text.
HOSTILE = " ".join(HARM)
#: Characters of the longest texts.
LONG = 1_000_000


@functools.cache
def hostile_report(harm: str = HOSTILE, long: int = LONG) -> Report:
    """A report with a check of each verdict and every optional part, whose texts begin and end with `harm`.

    The name of the target, the id of a case, and a check's `got` are `long` characters longer.
    """
    claim = StatedClaim(name="c", value="v", text="t", supported=True, clauses=("read.succeeds",))
    more: dict[str, Any] = {"case": "read/odd", "issue": "i", "expires": datetime.date(2100, 1, 1), "cases": 0}
    known = waiver(fingerprint="code=KNOWN", **more)
    waivers = (known, replace(known, clause="read.hint", fingerprint="code=NOT SEEN"))
    header = spoiled(replace(HEADER, claims=(claim,), waivers=waivers), _around(harm))
    header["target"]["name"] += "N" * long
    header["suite"]["catalogue"] = digest(header["clauses"])
    services = Figures(images=("image:1",), size=1, figures=(Figure("what", 1),), failure=None)
    report = build(
        typed(header, Header),
        [typed(spoiled(one, _around(harm)), CaseRecord) for one in _cases(long)],
        duration=1.0,
        left_out=harm + "2 cases did not end" + harm,
        services=typed(spoiled(services, _around(harm)), Figures),
        costs=typed(spoiled(COSTS, _around(harm)), Costs),
    )
    classes = {name: replace(one, reason=harm + one.reason + harm) for name, one in report.classes.items()}
    return replace(report, reason=harm + report.reason + harm, classes=classes)


def _around(harm: str) -> Callable[[str], str]:
    return lambda text: harm + text + harm


def _cases(long: int) -> list[CaseRecord]:
    """A case of each verdict, and two that are broken: in the second the first one's clause and two others."""
    broken = replace(NO_LUCK, kind=None)
    after = replace(broken, clause="stat.odd", op="stat")
    known = CheckRecord("read.succeeds", Verdict.WAIVED, "code=OK", "code=KNOWN", plugin_said="no luck")
    noted = CheckRecord("read.hint", Verdict.INFORMATIONAL, "this", "that", holds=False)
    odd = CheckRecord("stat.odd", Verdict.WARNING, "one of two", "that", reading="host")
    also = replace(
        broken, clause="init.once", got="value=" + "G" * long, kind=StatementKind.LEAK, op="init", code=None, times=3
    )
    more: dict[str, Any] = {"stimulus": "stimulus", "ops": ("read() -> UNKNOWN", "close()"), "output": "output"}
    reason = "shrunk from 9 ops; trace: traces/x.json; again: pytest --replay=traces/x.json"
    bare = (Verdict.ABSENT, Verdict.NOT_RUN, Verdict.ERROR)
    return [
        *(case(f"{one.name}/a", ("read.hint", one), reason="reason", **more) for one in Verdict if one not in bare),
        *(record(f"{one.name}/a", one, clauses=("read.hint",), reason=f"{one}", executed=False) for one in bare),
        record("read/broken", Verdict.VIOLATION, broken, reason=reason, tier="smoke", cut="traces/cut.txt", **more),
        record("read/broken-" + "I" * long, Verdict.VIOLATION, broken, also, after, reason=reason, **more),
        record("read/odd", Verdict.WARNING, odd, known, noted, cause="append", **more),
        record("read/known", Verdict.NOT_RUN, known, clauses=("read.hint",), ended=Ending.DIED),
    ]


def spoiled(value: Struct, spoil: Callable[[str], str]) -> dict[str, Any]:
    """The plain values of a record, with each text changed of which its type says no more than that it is a text."""
    found: dict[str, Any] = _spoiled(plain(value), inspect.type_info(type(value)), spoil)
    return found


def _spoiled(value: Any, kind: inspect.Type, spoil: Callable[[str], str]) -> Any:
    match kind:
        case inspect.Metadata():
            return _spoiled(value, kind.type, spoil)
        case inspect.UnionType():
            return _spoiled(value, _fitting(value, kind.types), spoil)
        case inspect.StrType(pattern=None):
            return spoil(value)
        case inspect.VarTupleType() | inspect.ListType():
            return [_spoiled(one, kind.item_type, spoil) for one in value]
        case inspect.DictType():
            return {
                _spoiled(key, kind.key_type, spoil): _spoiled(one, kind.value_type, spoil) for key, one in value.items()
            }
        case inspect.StructType():
            kinds = {field.encode_name: field.type for field in kind.fields}
            return {key: _spoiled(one, kinds[key], spoil) for key, one in value.items()}
    return value


def texts(value: Any) -> list[str]:
    """All texts in plain values."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for one in (*value, *value.values()) for text in texts(one)]
    return [text for one in value for text in texts(one)] if isinstance(value, list) else []


def _fitting(value: Any, kinds: Sequence[inspect.Type]) -> inspect.Type:
    """Which of these types a plain value is of."""
    wanted: Mapping[type, tuple[type, ...]] = {
        str: (inspect.StrType, inspect.DateType),
        list: (inspect.VarTupleType, inspect.ListType),
        tuple: (inspect.VarTupleType, inspect.ListType),
        dict: (inspect.StructType, inspect.DictType),
    }
    plainly = [one.type if isinstance(one, inspect.Metadata) else one for one in kinds]
    return next((one for one in plainly if isinstance(one, wanted.get(type(value), ()))), inspect.AnyType())
