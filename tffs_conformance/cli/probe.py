"""`tffs-conformance probe`: the first draft of a profile, which a person edits."""

import os
import re
import textwrap
from collections.abc import Iterable
from pathlib import Path

import click
import tomlkit

from ..harness.targets.shipped import shipped
from ..reports.escape import printable, steers
from ..reports.model.redaction import looks_secret
from ..run.run_options import BadUsageError, patience
from ..run.targets import only_target
from ..suite.contract.claims import meanings
from ..suite.engine.observations import ProbeAnswer, observations
from ..suite.engine.target import Target
from ..suite.engine.workbench import Workbench


@click.command()
@click.argument("plugin")
@click.option("--scheme", help="The scheme to look at, where there are several.")
@click.option("--root", metavar="URI", help="Where to work: a fresh directory is made below it and removed.")
@click.option("--env", "variables", multiple=True, metavar="NAME=VALUE", help="Set for the plugin's process.")
@click.option("--call-timeout", default=5.0, metavar="SECONDS", help="After so long an op counts as hung (default: 5).")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write it there.")
def probe(
    plugin: str,
    scheme: str | None,
    root: str | None,
    variables: tuple[str, ...],
    call_timeout: float,
    output: Path | None,
) -> None:
    """Try what PLUGIN does, and write a profile that claims it.

    PLUGIN is the name of one that ships with the suite, or the path of a shared object. Edit what comes out: a claim
    says what you mean to support, not what happens to work.
    """
    if output is not None and not output.absolute().parent.is_dir():
        raise click.UsageError(f"--output: there is no folder {output.absolute().parent}")
    environment = {}
    for variable in variables:
        name, equals, value = variable.partition("=")
        if not name or not (equals or name in os.environ):
            raise click.UsageError(
                f"--env={printable(variable)}: NAME=VALUE is expected, or the NAME of a variable that is set here"
            )
        environment[name] = value if equals else os.environ[name]
    try:
        target = only_target(plugin, scheme, root, environment, patience(call_timeout))
    except BadUsageError as error:
        raise click.UsageError(printable(str(error))) from None
    bench = Workbench(target)
    try:
        text = draft(plugin, target, root, observations(bench))
    finally:
        bench.remove_root()
        bench.close()
    if output is None:
        click.echo(text, nl=False)
    else:
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as error:
            raise click.ClickException(f"{output} cannot be written: {error.strerror}") from None
        click.echo(f"written: {output}", err=True)
    if target.scheme is None:
        raise click.ClickException("the plugin registered no scheme, so nothing could be found out")
    for left in sorted(set(bench.left_behind))[:3]:
        click.echo(f"left behind, because the plugin could not delete it: {printable(left)}", err=True)


def draft(given: str, target: Target, root: str | None, findings: Iterable[ProbeAnswer]) -> str:
    """The text of a profile, with a comment for everything that was found out."""
    lines = [
        f"# What {printable(given)} does, found out by 'tffs-conformance probe'. Edit it: a claim says what is meant,",
        "# not what happens to work. Without a claim, any answer that the contract accepts is right.",
        "",
        "[plugin]",
        f"path = {_toml(given if given in shipped() else str(target.plugin))}",
        f"scheme = {_toml(target.scheme)}" if target.scheme else "# scheme: the plugin registered none",
        f"root = {_toml(root)}" if root else f'# root = "{target.scheme or "scheme"}:///tmp"  # the default',
    ]
    if target.environment:
        lines += ["", "[env]"]
        for name, value in target.environment.items():
            lines.append(
                f"{_key(name)} = {{from = {_toml(name)}}}"
                if looks_secret(name, value)
                else f"{_key(name)} = {_toml(value)}"
            )
    section = ""
    for finding in findings:
        if finding.section != section:
            section = finding.section
            lines += ["", f"[{section}]"]
        lines += [""] if section == "claims" and lines[-1] != "[claims]" else []
        lines += _comment(finding)
        lines.append(f"{finding.key} = {_toml(finding.value)}" if finding.value is not None else f"# {finding.key} =")
    return "\n".join([*lines, "# max_file_size: not looked for", ""])


def _comment(finding: ProbeAnswer) -> list[str]:
    """What may be claimed, what the value means, and how it was found out."""
    values = meanings().get(finding.key, {})
    texts = [finding.how]
    if values:
        about = next(iter(values.values())).about
        texts.insert(0, f"{finding.key}: {about} ({' | '.join(map(_toml, values))})")
    texts += [f"i.e. {meaning.text}" for value, meaning in values.items() if value == finding.value]
    wrapped = (textwrap.wrap(printable(text), 118, initial_indent="# ", subsequent_indent="#   ") for text in texts)
    return [line for lines in wrapped for line in lines]


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)


def _toml(value: str | bool | int) -> str:
    """A value in TOML. What could steer a terminal is written as an escape, and what TOML cannot hold is replaced."""
    if not isinstance(value, str):
        return tomlkit.item(value).as_string()
    text = value.encode("utf-8", "replace").decode()
    escaped = "".join(f"\\U{ord(one):08x}" if steers(one) else one for one in text.replace("\\", "\\\\"))
    return '"' + escaped.replace('"', '\\"') + '"'
