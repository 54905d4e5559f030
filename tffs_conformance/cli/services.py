"""`tffs-conformance services`: the services of a plugin by hand."""

from pathlib import Path

import click

from ..harness import services as containers
from ..harness.services import Compose, ComposeError, Services, ServicesError, ServicesRun, engine, health
from ..harness.targets.shipped import compose_files


def named(name: str) -> Compose:
    """The compose file of a plugin of this name, or at this path. Raises UsageError or ComposeError."""
    known = compose_files()
    path = known.get(name, Path(name))
    if not path.is_file():
        raise click.UsageError(f"{name}: there are no such services ({', '.join(known)}), nor a compose file")
    return containers.read(path)


def title(name: str) -> str:
    """What runs of services are called: the name of the plugin, or of the folder that the compose file is in."""
    return name if name in compose_files() else Path(name).absolute().parent.name


@click.group()
def services() -> None:
    """Bring up the services that a plugin needs, and take them down."""


@services.command()
@click.argument("name", metavar="NAME|COMPOSE.YAML")
@click.option("--any-ports", is_flag=True, help="Take free ports instead of those in the compose file.")
def up(name: str, any_ports: bool) -> None:
    """Bring services up and leave them running; says what to do next."""
    try:
        compose = named(name)
        running = _already(title(name), compose) or containers.up(
            compose, title(name), keep=True, fixed_ports=not any_ports, say=lambda text: click.echo(text, err=True)
        )
    except (ComposeError, ServicesError) as error:
        raise click.ClickException(str(error)) from None
    _show(running, name)


def _already(name: str, compose: Compose) -> Services | None:
    for found in containers.runs(containers.connect(), name):
        if found.kept:
            click.echo(f"{name} is up already, as run {found.run}", err=True)
            return containers.attach(compose, found)
    return None


def _show(running: Services, name: str) -> None:
    for service, facts in running.facts.items():
        ports = [f"{port} at {address}" for port, address in facts.items() if port.isdigit()]
        click.echo(f"{service:<12}{facts['image']:<34}{', '.join(ports)}")
    for variable, value in running.environment.items():
        click.echo(f"export {variable}={value}")
    line = f"pytest --plugin={name}" + "".join(f" --env={key}={value}" for key, value in running.environment.items())
    if running.root:
        line += f" --root={running.root}/"
    if running.profile:
        line += f" --plugin-profile={running.profile}"
    click.echo(f"{line}\ntffs-conformance services down {name}")


@services.command()
@click.argument("name", required=False)
@click.option("--all", "also_alive", is_flag=True, help="Also those that a test run still uses.")
def down(name: str | None, also_alive: bool) -> None:
    """Remove what was brought up, and what runs left that were killed: containers, networks, volumes."""
    try:
        gone = containers.down(title(name) if name else None, also_alive=also_alive)
    except ServicesError as error:
        raise click.ClickException(str(error)) from None
    for found in gone:
        click.echo(f"removed: {found.name}, run {found.run}")
    if not gone:
        click.echo("there was nothing to remove")


@services.command()
def status() -> None:
    """Say what is up, and how it is."""
    try:
        client = containers.connect()
        found = containers.runs(client)
    except ServicesError as error:
        raise click.ClickException(str(error)) from None
    for one in found:
        click.echo(f"{one.name}, run {one.run}: {_held_by(one)}")
        for service, container in sorted(engine.containers(client, one.run).items()):
            ports = container.attrs["NetworkSettings"]["Ports"] or {}
            places = [f"{port} at {at[0]['HostIp']}:{at[0]['HostPort']}" for port, at in sorted(ports.items()) if at]
            click.echo(f"  {service:<12}{health.state(container):<11}{', '.join(places)}")
    if not found:
        click.echo("nothing is up")


def _held_by(found: ServicesRun) -> str:
    if found.kept:
        return "until 'services down'"
    return f"used by process {found.keeper.split()[1]}" if found.alive else "left by a run that was killed"
