"""The commands of `tffs-conformance`, performed in this process."""

from click.testing import CliRunner

from tffs_conformance.cli import main


def output_of(*arguments: object, code: int = 0) -> str:
    """What a command prints that ends with this exit code."""
    done = CliRunner().invoke(main, list(map(str, arguments)))
    assert done.exit_code == code, done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done.output
