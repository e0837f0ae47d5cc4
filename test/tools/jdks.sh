#!/bin/bash
# Headless OpenJDKs of Debian's unstable release in DIR, as root: jdks.sh DIR [VERSION...].  They come from the mirror
# of this machine's apt, and are unpacked with the libraries that they need, to run in a chroot: a minute and 1.2 GB.
# Run it again for other versions.  MMPROF_JDK_ROOT=DIR names it to tests, which mount /proc there for themselves.
set -eu
if [ $# = 0 ] || [ "$(id -u)" != 0 ]; then
    echo "jdks: usage, as root: $0 DIR [VERSION...]" >&2
    echo "  next: run 'sudo make jdks MMPROF_JDK_ROOT=/srv/jdks'" >&2
    exit 1
fi
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
versions=${*:-8 11 21 25 26 27 28}
mirror=$(sed -n 's/^URIs:[[:space:]]*//p' /etc/apt/sources.list.d/debian.sources 2> /dev/null | head -n 1)
[ -n "$mirror" ] || mirror=$(awk '$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /:\/\//) { print $i; exit } }' \
    /etc/apt/sources.list)

apt=$(mktemp -d)
chmod 755 "$apt"
trap 'rm -rf "$apt"' EXIT
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs"
echo "deb $mirror sid main" > "$apt/sources.list"
touch "$apt/status"
# get COMMAND...: apt-get of unstable, without this machine's own lists.
get() {
    apt-get -q -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o "Dir::State::lists=$apt/lists" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache" \
        -o Acquire::Languages=none -o Acquire::Check-Valid-Until=false -o Acquire::Retries=1 \
        -o APT::Sandbox::User=root "$@"
}

if ! timeout 9 /usr/lib/apt/apt-helper -q -o Acquire::Retries=0 download-file "$mirror/dists/sid/InRelease" \
    "$apt/InRelease" > "$apt/said" 2>&1; then
    echo "jdks: '$mirror' has no 'sid', or does not answer: $(tail -n 1 "$apt/said")" >&2
    echo "  next: check the network; or install JDKs by hand, and name them in MMPROF_JDKS" >&2
    exit 1
fi
get update
cd "$apt/debs"
get download libc6 libgcc-s1 libstdc++6 zlib1g
for version in $versions; do
    get download "openjdk-$version-jre-headless" || echo "jdks: there is no openjdk-$version-jre-headless" >&2
done
mkdir -p "$dir/usr/lib" "$dir/usr/lib64" "$dir/proc" "$dir/dev" "$dir/tmp"
chmod 1777 "$dir/tmp"
for folder in lib lib64; do
    [ -e "$dir/$folder" ] || ln -s "usr/$folder" "$dir/$folder"
done
for deb in *.deb; do
    dpkg -x "$deb" "$dir"
done
# A JVM has counters of its own where its user has a name.
mkdir -p "$dir/etc"
[ -e "$dir/etc/passwd" ] || echo 'root:x:0:0:root:/root:/bin/sh' > "$dir/etc/passwd"
# Devices of its own: whoever removes the folder must not remove the machine's.
for device in null:3 zero:5 random:8 urandom:9; do
    [ -e "$dir/dev/${device%:*}" ] || mknod -m 666 "$dir/dev/${device%:*}" c 1 "${device#*:}"
done
ls -d "$dir"/usr/lib/jvm/java-*-openjdk-*
