"""Where the dragonfly plugin has its credentials from, and that no op fails because they are replaced."""

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.credential_services import RotatingStore
from tests.dragonfly_client import BUILT, MISSING, ROOT, at, configured, filesystem, read, registered, write
from tests.faulty_http import Reply
from tests.proxy_stub import ProxyStub
from tests.s3_server import SECRET_KEY, error
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

CONTENT = b"content" * 1000
#: What a machine may have set, and what must not reach a cloud.
NOTHING = dict.fromkeys(
    ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_SHARED_CREDENTIALS_FILE",
     "AWS_CONFIG_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
     "AWS_CONTAINER_CREDENTIALS_FULL_URI"], "",
) | {"AWS_EC2_METADATA_DISABLED": "true"}  # fmt: skip


class Machine:
    """A process's surroundings: a home, a store that hands out credentials, and what the environment says of them."""

    def __init__(self, home: Path, store: RotatingStore, proxy: ProxyStub) -> None:
        self.home, self.store, self.proxy = home, store, proxy
        self.environment = {**NOTHING, "HOME": str(home)}

    def from_environment(self) -> None:
        key, token, _ = self.store.issue()
        self.environment |= {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": SECRET_KEY, "AWS_SESSION_TOKEN": token}

    def from_credentials_file(self, name: str = "credentials", section: str = "default") -> None:
        """The file in the home; written anew, as by a tool that signs a user in, each time this is called."""
        key, token, _ = self.store.issue()
        (self.home / ".aws").mkdir(exist_ok=True)
        keys = f"aws_access_key_id = {key}\naws_secret_access_key = {SECRET_KEY}\naws_session_token = {token}"
        (self.home / ".aws" / name).write_text(f"[{section}]\n{keys}", encoding="utf-8")

    def from_profile(self) -> None:
        self.from_credentials_file("config", "profile training")
        self.environment["AWS_PROFILE"] = "training"

    def from_web_identity(self) -> None:
        self.environment |= {
            "AWS_WEB_IDENTITY_TOKEN_FILE": str(self.token_file()),
            "AWS_ROLE_ARN": "arn:aws:iam::1:role/training",
            "AWS_ENDPOINT_URL_STS": f"{self.store.url}/sts/",
        }

    def from_container(self) -> None:
        self.environment |= {
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{self.store.url}/container",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": str(self.token_file()),
        }

    def from_instance(self) -> None:
        self.environment |= {"AWS_EC2_METADATA_DISABLED": "false",
                             "AWS_EC2_METADATA_SERVICE_ENDPOINT": self.store.url}  # fmt: skip

    def token_file(self) -> Path:
        path = self.home / "token"
        path.write_text(f"{self.store.token}\n", encoding="utf-8")
        return path

    def plugin(self, log: list[str] | None = None) -> AbstractContextManager[HostFilesystem]:
        config = {"addr": self.proxy.url, "object_storage": {"endpoint": self.store.url}, "cache_max_bytes": 0}
        return filesystem(self.home, config | {"retry_deadline_s": 5}, self.environment, log=log)


@contextlib.contextmanager
def surroundings(home: Path) -> Iterator[Machine]:
    with RotatingStore() as store, ProxyStub() as proxy:
        store.put("tests/file", CONTENT)
        yield Machine(home, store, proxy)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with surroundings(tmp_path) as made:
        yield made


SetUp = Callable[[Machine], None]
SERVICES: list[SetUp] = [Machine.from_web_identity, Machine.from_container, Machine.from_instance]
FILES: list[SetUp] = [Machine.from_credentials_file, Machine.from_profile]


def test_the_order(machine: Machine) -> None:
    # Each is set up beside all that come behind it, and is the one that is asked.
    for number, set_up in enumerate([*reversed(SERVICES), Machine.from_credentials_file, Machine.from_environment]):
        set_up(machine)
        given = {key for key, _, _ in machine.store.issued}
        machine.store.asked.clear()
        with machine.plugin() as fs:
            assert write(fs, at("new"), CONTENT) == (Code.OK, "")
            assert read(fs, at("file"))[::2] == (Code.OK, CONTENT)
        assert len(machine.store.signers()) == 1
        if set_up in SERVICES:
            prefix = ("/latest/", "/container", "/sts/")[number]
            assert all(target.startswith(prefix) for target in machine.store.services_asked())
        else:
            assert machine.store.services_asked() == []
            assert machine.store.signers() <= given


def test_no_op_fails_while_credentials_expire(tmp_path: Path) -> None:
    """Those of each service, at the same time."""
    with contextlib.ExitStack() as stack:
        going: list[tuple[RotatingStore, HostFilesystem]] = []
        for set_up in SERVICES:
            (folder := tmp_path / set_up.__name__).mkdir()
            machine = stack.enter_context(surroundings(folder))
            # Half of the time that they are good for has to hold one request at least: they end at whole seconds.
            machine.store.lifetime_s = 5
            set_up(machine)
            going.append((machine.store, stack.enter_context(machine.plugin())))
        until = time.monotonic() + 120
        while any(len(store.signers()) < 3 for store, _ in going) and time.monotonic() < until:
            for _, fs in going:
                assert read(fs, at("file"))[::2] == (Code.OK, CONTENT)
                assert write(fs, at("other"), CONTENT) == (Code.OK, "")
                assert fs.path_exists(at("missing")).code is Code.NOT_FOUND
    assert [len(store.signers()) > 2 for store, _ in going] == [True] * 3


OPS: list[Callable[[HostFilesystem], Code]] = [
    lambda fs: fs.stat(at("file")).code,
    lambda fs: read(fs, at("file"))[0],
    lambda fs: write(fs, at("new"), CONTENT)[0],
    lambda fs: fs.get_children(ROOT).code,
    lambda fs: fs.copy_file(at("file"), at("copy")).code,
    lambda fs: fs.delete_file(at("file")).code,
]


@pytest.mark.parametrize("set_up", [*FILES, *SERVICES])
def test_each_op_survives_that_the_store_refuses(machine: Machine, set_up: SetUp) -> None:
    set_up(machine)
    with machine.plugin() as fs:
        for op in OPS:
            machine.store.revoke_all()
            if set_up in FILES:
                set_up(machine)
            machine.store.asked.clear()
            assert op(fs) is Code.OK
            assert len(machine.store.signers()) == 2


def test_a_read_survives_what_expires_behind_open(machine: Machine) -> None:
    machine.from_instance()
    with machine.plugin() as fs:
        opened = fs.new_random_access_file(at("file")).value
        assert opened is not None
        with opened as file:
            # dfdaemon passes on the 400, and nothing that says why.
            machine.store.revoke_all()
            assert file.read(0, len(CONTENT)).value.data == CONTENT


def test_a_refusal_that_has_another_cause_is_asked_about_once(machine: Machine) -> None:
    machine.from_instance()
    with machine.plugin() as fs:
        machine.store.inject(
            lambda _, __: error(403, "AccessDenied"), when=lambda asked: "/latest" not in asked.target, done=False
        )
        machine.store.asked.clear()
        assert fs.stat(at("file")).code is Code.PERMISSION_DENIED
        # A listing may be asked for at the same time, for the name could be a directory's.
        others = ("/latest", "list-type")
        objects = [asked.method for asked in machine.store.asked if not any(one in asked.target for one in others)]
        assert objects == ["HEAD", "GET"]


def another_token(machine: Machine) -> None:
    machine.store.token = "the second token"
    machine.token_file()


def refuse(machine: Machine) -> None:
    machine.store.token = "another token"


def service_unavailable(machine: Machine) -> None:
    machine.store.inject(lambda _, __: Reply(503), 2, lambda asked: asked.target == "/container", done=False)


@pytest.mark.parametrize(
    ("set_up", "change", "code", "message"),
    [
        (Machine.from_web_identity, another_token, Code.OK, ""),
        (Machine.from_container, another_token, Code.OK, ""),
        (Machine.from_container, service_unavailable, Code.OK, ""),
        (Machine.from_container, refuse, Code.UNAUTHENTICATED, "the container's credential service answers 401"),
    ],
)
def test_change_while_credentials_expire(
    machine: Machine, set_up: SetUp, change: SetUp, code: Code, message: str
) -> None:
    set_up(machine)
    with machine.plugin() as fs:
        assert fs.stat(at("file")).ok
        machine.store.revoke_all()
        change(machine)
        got = fs.stat(at("file"))
    assert (got.code, got.message.endswith(message)) == (code, True), got.message


def test_log_of_replaced_credentials_has_no_secret(machine: Machine) -> None:
    """Nor the name of an object."""
    log: list[str] = []
    machine.from_instance()
    with machine.plugin(log) as fs:
        machine.store.revoke_all()
        assert read(fs, at("file"))[::2] == (Code.OK, CONTENT)
        machine.store.revoke_all()
        machine.store.inject(lambda *_: Reply(404), when=lambda asked: "/latest" in asked.target, done=False)
        assert fs.stat(at("file")).code is not Code.OK
    secrets = {SECRET_KEY, "tests/file"} | {text for key, token, _ in machine.store.issued for text in (key, token)}
    assert log[0] == "[TF_Log INFO] dragonfly: credentials are replaced"
    assert not [line for line in log if any(secret in line for secret in secrets)]


ECS = {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/x"}
WRONG = Code.INVALID_ARGUMENT
ALL_SOURCES = ("object_storage.access_key, AWS_ACCESS_KEY_ID, {home}/.aws/credentials, AWS_ROLE_ARN, "
               "AWS_CONTAINER_CREDENTIALS_FULL_URI, AWS_EC2_METADATA_DISABLED")  # fmt: skip
#: Without usable credentials nothing is registered: the sources that are set up, what changes of the machine, the code,
#: and the message, or what is in it, between commas.
REFUSALS: dict[str, tuple[list[SetUp], dict[str, str], Code, str]] = {
    "nothing": ([], {}, WRONG, ALL_SOURCES),
    # A source that is set up and refuses ends the search.
    "web identity": ([Machine.from_web_identity, Machine.from_instance], {"token": "another token"},
                     Code.UNAUTHENTICATED, "dragonfly; STS answers 400 InvalidIdentityToken"),
    "container": ([Machine.from_container, Machine.from_instance], {"token": "another token"},
                  Code.UNAUTHENTICATED, "dragonfly; the container's credential service answers 401"),
    # Others could listen to it.
    "plain http": ([Machine.from_web_identity], {"AWS_ENDPOINT_URL_STS": "http://192.0.2.1/"}, WRONG,
                   "dragonfly; AWS_ENDPOINT_URL_STS is neither https nor on this machine"),
    "far away": ([], {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://far.example/"}, WRONG,
                 "is neither https nor on this machine"),
    "half a key": ([], {"AWS_ACCESS_KEY_ID": "a"}, WRONG, "AWS_SECRET_ACCESS_KEY"),
    "no such profile": ([], {"AWS_PROFILE": "mine"}, WRONG, "AWS_PROFILE names it"),
    "no role": ([], {"AWS_WEB_IDENTITY_TOKEN_FILE": "/t"}, WRONG, "AWS_ROLE_ARN"),
    "two lines": ([], ECS | {"AWS_CONTAINER_AUTHORIZATION_TOKEN": "a\nx-b: c"}, WRONG, "more than one line"),
    "no token": ([], ECS | {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/no/token"}, Code.FAILED_PRECONDITION,
                 "/no/token, which holds no token"),
    "no metadata": ([], {"AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:1"},
                    WRONG, "the instance metadata service gives no full answer"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_unusable_credentials_are_refused(machine: Machine, case: str) -> None:
    sources, changes, code, wanted = REFUSALS[case]
    for set_up in sources:
        set_up(machine)
    machine.store.token = changes.get("token", machine.store.token)
    machine.environment |= {name: value for name, value in changes.items() if name != "token"}
    config = {"addr": "http://127.0.0.1:1", "object_storage": {"endpoint": "http://127.0.0.1:1"}}
    entry = registered(configured(machine.home, config), machine.environment)
    assert entry.code is code
    if wanted.startswith("dragonfly; "):
        assert entry.message == wanted
    assert [text for text in wanted.format(home=machine.home).split(", ") if text not in entry.message] == []
    assert "first token" not in entry.message
    asked = machine.store.services_asked()
    assert len(machine.store.asked) == len(asked) == (1 if "token" in changes else 0)
    assert not any(target.startswith("/latest/") for target in asked)
