#!/bin/bash
# A Debian root in DIR with headless OpenJDKs, as root: jdks.sh DIR [VERSION...].  It uses the mirror of this
# machine's apt,
# takes some minutes and 2 GB.  Run it again for other versions.  MMPROF_JDK_ROOT=DIR names it to tests.
set -eu
if [ $# = 0 ] || [ "$(id -u)" != 0 ]; then
    echo "jdks: usage, as root: $0 DIR [VERSION...]" >&2
    echo "  next: run 'sudo make jdks MMPROF_JDK_ROOT=/srv/jdks'" >&2
    exit 1
fi
dir=$1
shift
versions=${*:-8 11 21 25 26 27 28}
export DEBIAN_FRONTEND=noninteractive
command -v debootstrap > /dev/null || apt-get install -y -q debootstrap
mirror=$(sed -n 's/^URIs:[[:space:]]*//p' /etc/apt/sources.list.d/debian.sources 2> /dev/null | head -n 1)
[ -n "$mirror" ] || mirror=$(awk '$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /:\/\//) { print $i; exit } }' \
    /etc/apt/sources.list)
[ -x "$dir/usr/bin/apt-get" ] || debootstrap --variant=minbase sid "$dir" "$mirror"
for kernel in proc dev; do
    mountpoint -q "$dir/$kernel" || mount --bind "/$kernel" "$dir/$kernel"
done
chroot "$dir" apt-get -q -o Acquire::Check-Valid-Until=false update
for version in $versions; do
    chroot "$dir" apt-get -q -y -o Acquire::Check-Valid-Until=false install --no-install-recommends \
        "openjdk-$version-jdk-headless" || echo "jdks: there is no openjdk-$version-jdk-headless" >&2
done
ls -d "$dir"/usr/lib/jvm/java-*-openjdk-*
