# The steps of CI: what each needs, and how many minutes it may take: some machines have a third of the speed of others.
# A step is what an environment of tox.ini does, or a few commands of its own. .ci/run starts GNU make on these.
SHELL := $(CURDIR)/.ci/step
.SHELLFLAGS = $@ $(minutes)
.ONESHELL:
.SILENT:

# First what others wait for; the last of all is the one that no step waits for.
STEPS := packages environment binaries tensorflow-install docker debian wheel lint lowest tests images fresh dragonfly services \
    tensorflow fidelity faults editable
.PHONY: all $(STEPS)
all: $(STEPS)
# What was asked for: some of it may not be run.
$(file >$(TFFS_CI_ARTIFACTS)/steps.txt,$(or $(MAKECMDGOALS),$(STEPS)))

ARTIFACTS := $(TFFS_CI_ARTIFACTS)
# Debian's own is compiled with optimizations; what else stands first in PATH may not be.
PYTHON := $(firstword $(wildcard /usr/bin/python3) python3)
VENV := $(CURDIR)/.venv
TENSORFLOW := $(CURDIR)/.venv-tensorflow
WHEELS := $(ARTIFACTS)/wheel
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/tffs-conformance
IMAGES := $(PYTHON) reference_plugins/dragonfly/services/build_images.py
# The others have the cores first.
YIELD := renice -n 5 $$$$ >/dev/null; echo 5 >/proc/$$$$/autogroup || true

# What the packages and images are built with, and what the tests run.
DEBIAN := bubblewrap ccache chromium cmake debootstrap docker.io docker-compose fuse3 g++ libclang-dev libcurl4-openssl-dev \
    libprotobuf-dev libpugixml-dev librocksdb-dev libssl-dev make nlohmann-json3-dev openssh-server pkg-config \
    protobuf-compiler strace valgrind

export PATH := $(VENV)/bin:$(PATH):/usr/local/sbin:/usr/sbin:/sbin
# What is skipped elsewhere for want of a tool fails here.
export TFFS_ALL_REQUIRED := 1
export TFFS_TENSORFLOW_PYTHON := $(TENSORFLOW)/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# What pytest makes of the cases is kept, whatever the machine says: it is started a thousand times.
export PYTHONDONTWRITEBYTECODE :=
export MYPY_CACHE_DIR := $(CACHE)/mypy
export ZIG_GLOBAL_CACHE_DIR := $(CACHE)/zig
# zig knows what it compiled again only by the same path of its sources, and each clone has its own environment.
export ZIG_LIB_DIR := $(CACHE)/zig-lib
export CCACHE_DIR := $(CACHE)/ccache
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
export CMAKE_C_COMPILER_LAUNCHER := ccache
export CMAKE_CXX_COMPILER_LAUNCHER := ccache

# The commands of an environment of tox.ini, with these arguments where it takes some. One command stands behind the key,
# several below it.
define tox
commands=$$(tox config -e $(1) -k commands $(if $(2),-- $(2)) | sed -En 's/^(  |commands = )//p')
eval "$${commands:?}"
endef

# Cases make many small files and ask for them to be durable. They need no disk where there is room: then the tests take
# two thirds of the processor.
define in_memory
if [ "$$(df --output=avail /dev/shm | tail -n 1)" -gt 8000000 ]; then
    export TMPDIR=$$(mktemp -d -p /dev/shm tffs-ci.XXXXXX)
    # Some tests are nobody for a while.
    chmod 1777 "$$TMPDIR"
    trap 'rm -rf "$$TMPDIR"' EXIT
fi
endef

packages: minutes = 10
packages:
	missing=$$(for p in $(DEBIAN); do
	    dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p
	done)
	[ -n "$$missing" ] || exit 0
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing

environment: minutes = 15
environment:
	mkdir -p $(CACHE)
	$(PYTHON) -m venv $(VENV)
	# What the package and all environments of tox need, but TensorFlow; and tox, which knows their commands.
	$(PYTHON) - >$(ARTIFACTS)/requirements.txt <<-END
	import tomllib
	project = tomllib.load(open("pyproject.toml", "rb"))
	groups = project["dependency-groups"]
	print("tox>=4.60,<5", *project["project"]["dependencies"], *groups["test"], *groups["lint"], sep="\n")
	END
	pip install -q -r $(ARTIFACTS)/requirements.txt
	unset ZIG_LIB_DIR
	[ "$$(cat $(CACHE)/zig-lib/version)" = "$$(python -m ziglang version)" ] && exit
	rm -rf $(CACHE)/zig-lib
	cp -a $$(python -c 'import ziglang; print(*ziglang.__path__)')/lib $(CACHE)/zig-lib
	python -m ziglang version >$(CACHE)/zig-lib/version

# Those that only wait for its end do so whatever it is: hence the hyphen.
binaries: minutes = 60
binaries: packages
	-$(IMAGES) --binaries

tensorflow-install: minutes = 20
tensorflow-install:
	$(YIELD)
	$(PYTHON) -m venv $(TENSORFLOW)
	$(TENSORFLOW)/bin/pip install -q --no-compile 'tensorflow-cpu==2.21.*' tensorboard
	$(TENSORFLOW)/bin/python -c 'import tensorflow'

docker: minutes = 3
docker: packages
	docker version && exit
	setsid dockerd >$(ARTIFACTS)/dockerd.log 2>&1 &
	echo $$! >$(ARTIFACTS)/dockerd.pid
	for _ in {1..300}; do docker version && exit; kill -0 $$!; sleep 0.2; done
	exit 1

debian: minutes = 25
debian: packages environment
	$(YIELD)
	$(IMAGES) --systems

wheel: minutes = 25
wheel: packages environment
	rm -rf $(WHEELS)
	pip wheel -q --no-deps --no-build-isolation -w $(WHEELS) .
	pip install -q --no-deps --force-reinstall $(WHEELS)/*.whl
	python -m tests.fakes

lint: minutes = 20
lint: environment
	$(call tox,lint)

# What pyproject.toml promises of the oldest releases of other packages.
lowest: minutes = 10
lowest: wheel
	$(YIELD)
	rm -rf $(ARTIFACTS)/lowest
	$(PYTHON) -m venv $(ARTIFACTS)/lowest
	$(PYTHON) - >$(ARTIFACTS)/lowest.txt <<-END
	import re, tomllib
	for one in tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"]:
	    print(re.sub(">=([^,]+).*", r"==\1", one))
	END
	cd $(ARTIFACTS)/lowest
	bin/pip install -q --only-binary=:all: -r ../lowest.txt
	bin/pip install -q --no-deps $(WHEELS)/*.whl
	bin/pytest -p no:cacheprovider --plugin=posix --tier=smoke

# What a contributor has: CONTRIBUTING.md. These tests start runs of pytest in many ways, and read the package's files.
editable: minutes = 10
editable: wheel
	$(YIELD)
	rm -rf $(ARTIFACTS)/editable
	$(PYTHON) -m venv $(ARTIFACTS)/editable
	export PATH=$(ARTIFACTS)/editable/bin:$$PATH
	pip install -q -U pip
	pip install -q --group test -e .
	pytest -n 2 tests/test_undisturbed.py tests/test_catalogue.py

# The tests of what hangs do not run beside a compiler that has both cores.
tests faults: $(if $(MAKECMDGOALS),,binaries)

# The host for other machines is tried in a container.
tests: minutes = 60
tests: wheel docker
	$(in_memory)
	$(call tox,tests)

images: minutes = 15
images: docker binaries debian
	grep -q '^binaries .*passed' $(ARTIFACTS)/durations.txt
	$(IMAGES)

fresh: minutes = 20
fresh: debian
	$(call tox,fresh)

dragonfly services: minutes = 20
dragonfly services: images wheel
	$(call tox,$@)

tensorflow: minutes = 25
tensorflow: images wheel tensorflow-install
	$(call tox,tensorflow)

fidelity: minutes = 15
fidelity: wheel tensorflow-install
	$(in_memory)
	$(call tox,fidelity)

# Plugins that hang are waited for.
faults: minutes = 35
faults: wheel
	$(in_memory)
	$(call tox,faults)
