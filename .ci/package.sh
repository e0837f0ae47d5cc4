#!/bin/sh
# A Debian package of what 'make install' installs: .ci/package.sh BUILD VERSION; its path is the last line of output.
set -eu
build=$1
version=$2
stage=$build/package
architecture=$(dpkg --print-architecture)
package=$build/mmprof_${version}_$architecture.deb

rm -rf "$stage"
mkdir -p "$stage/DEBIAN" "$build/package-control/debian"
${MAKE:-make} --no-print-directory BUILD="$build" DESTDIR="$stage" PREFIX=/usr install > /dev/null
programs=$(find "$stage/usr/bin" "$stage/usr/libexec" -type f -exec realpath {} +)
# shellcheck disable=SC2086  # several of them
strip $programs "$stage"/usr/lib/mmprof/*.so
gzip -9n "$stage"/usr/share/man/man*/*
rm "$stage/usr/share/doc/mmprof/LICENSE" # Debian has it in /usr/share/common-licenses
cat > "$stage/usr/share/doc/mmprof/copyright" << 'COPYRIGHT'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: mmprof

Files: *
Copyright: 2026 mmprof authors
License: Apache-2.0
 The Apache License, version 2.0, is in /usr/share/common-licenses/Apache-2.0.
COPYRIGHT
printf 'mmprof (%s) unstable; urgency=medium\n\n  * See the sources.\n\n -- mmprof authors <mmprof@example.org>  %s\n' \
    "$version" "$(LC_ALL=C date -R)" | gzip -9n > "$stage/usr/share/doc/mmprof/changelog.gz"

# The libraries that the programs need; the agent needs libc only.
printf 'Source: mmprof\n\nPackage: mmprof\nArchitecture: any\n' > "$build/package-control/debian/control"
# shellcheck disable=SC2086  # several of them
depends=$(cd "$build/package-control" && dpkg-shlibdeps -O $programs 2> /dev/null | sed -n 's/^shlibs:Depends=//p')
rm -rf "$build/package-control"
[ -n "$depends" ] || { echo "dpkg-shlibdeps names no library that '$programs' need" >&2; exit 1; }

cat > "$stage/DEBIAN/control" << CONTROL
Package: mmprof
Version: $version
Architecture: $architecture
Maintainer: mmprof authors <mmprof@example.org>
Installed-Size: $(du -sk "$stage/usr" | cut -f 1)
Depends: $depends, libpfm4
Section: devel
Priority: optional
Description: profiler for programs on the HotSpot JVM
 Finds the phases of a running Java program, the few methods that take much of
 its time, measures their calls within a budget, and says why they are slow.
CONTROL
chmod -R u=rwX,go=rX "$stage"
dpkg-deb --build --root-owner-group "$stage" "$package" > /dev/null
rm -rf "$stage"
echo "$package"
