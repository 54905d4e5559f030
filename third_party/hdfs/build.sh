#!/bin/sh
# Makes $2, a jar with Hadoop's servers and client, and $1/lib/native/libhdfs.so, which calls it from C.
# images.py runs it in this folder. Licences: Apache 2.0, Hadoop's and pydoop's alike.
set -eu
root=$1 out=$2

# What it fetches is gone with the folder.
mvn --quiet --batch-mode -Dmaven.repo.local="$root/target/repository" -Droot="$root" -Dout="$out.jar" package
mv "$out.jar" "$out"

# Hadoop's own release of libhdfs is in no package registry. pydoop's source release has a copy.
# pip asks it for its version, which needs an older setuptools; what says so has another name since pip 25.3.
echo 'setuptools<70' > "$root/target/constraints"
export PIP_CONSTRAINT="$root/target/constraints" PIP_BUILD_CONSTRAINT="$root/target/constraints"
python3 -m pip download --quiet --no-deps --no-binary :all: --dest "$root/target" pydoop==2.0.0
tar -C "$root/target" -xzf "$root/target/pydoop-2.0.0.tar.gz"
source=$root/target/pydoop-2.0.0/src/libhdfs
java=$(java -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.home = //p')
mkdir -p "$root/lib/native"
cc -shared -fPIC -O2 -w -o "$root/lib/native/libhdfs.so" \
  -I "$source" -I "$source/include" -I "$source/common" -I "$source/os" -I "$source/os/posix" \
  -I "$java/include" -I "$java/include/linux" \
  "$source"/*.c "$source"/common/*.c "$source"/os/posix/*.c \
  -L "$java/lib/server" -Wl,-rpath,"$java/lib/server" -ljvm
