#!/bin/bash
# Installs the Debian packages that building, testing and the demo need and that are missing.
# Does nothing when all is there.  Needs root, or sudo without a password.  'deps.sh pmu' installs what 'make
# check-pmu' needs besides: an emulator, and what makes a machine for it.
set -u

build='gcc make libc6-dev libpfm4-dev libelf-dev libdw-dev libcjson-dev zlib1g-dev openjdk-17-jdk-headless'
demo='openjdk-17-source'
check='binutils clang clang-format libclang-rt-14-dev cppcheck shellcheck mandoc groff-base procps util-linux
    libcap2-bin python3 protobuf-compiler qemu-user valgrind'
bench='uftrace'
case $(uname -m) in
    x86_64) check="$check gcc-aarch64-linux-gnu libc6-dev-arm64-cross" ;;
    aarch64) check="$check gcc-x86-64-linux-gnu libc6-dev-amd64-cross" ;;
esac
pmu='qemu-system-arm mmdebstrap cpio e2fsprogs gcc-aarch64-linux-gnu libc6-dev-arm64-cross'
[ "$(uname -m)" != aarch64 ] || pmu='qemu-system-arm mmdebstrap cpio e2fsprogs'
wanted="$build $demo $check $bench"
[ "${1-}" != pmu ] || wanted="$wanted $pmu"

if ! command -v dpkg-query > /dev/null; then
    echo "deps: not a Debian system; mmprof needs what these Debian packages hold: $wanted"
    exit 0
fi

missing=()
for package in $wanted; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null)" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
    if ! sudo -n true 2> /dev/null; then
        echo "deps: these packages are missing: ${missing[*]}" >&2
        echo "  next: run 'sudo apt-get install ${missing[*]}', or 'sudo make deps'" >&2
        exit 1
    fi
    as_root=(sudo)
fi

echo "deps: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get -q update &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends "${missing[@]}" ||
    {
        echo "deps: apt-get could not install ${missing[*]}" >&2
        echo "  next: look at what it says above; the build needs: $build" >&2
        exit 1
    }
