#!/bin/bash
# make install puts everything where it belongs, and make uninstall removes it.
# beside: yes
. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 1

made() {
    make --no-print-directory BUILD="$build" DESTDIR="$SCRATCH/root" PREFIX=/opt/mmprof "$1"
}

holds "make install succeeds" made install
prefix=$SCRATCH/root/opt/mmprof
for file in bin/mmprof lib/mmprof/libmmprof-agent.so lib/mmprof/libmmprof-start.so lib/mmprof/libmmprof-sim.so \
    lib/mmprof/libmmprof-tool.so lib/mmprof/libmmprof-memtrace.so lib/mmprof/libmmprof-placement.so \
    libexec/mmprof/mmprof-lab libexec/mmprof/mmprof-fleet libexec/mmprof/mmprof-mcp include/mmprof_tool.h \
    share/doc/mmprof/README.md share/doc/mmprof/LICENSE share/doc/mmprof/agents.schema.json \
    share/doc/mmprof/Marks.java; do
    holds "$file is installed" test -s "$prefix/$file"
done
is "all manual pages are installed" "$(cd "$prefix/share/man" && find . -type f | sed 's,.*/,,' | sort | xargs)" \
    "$(find man -type f | sed 's,.*/,,' | sort | xargs)"
matches "the installed program runs" "$("$prefix/bin/mmprof" version 2>&1)" '^mmprof [0-9]+\.[0-9]+'
for command in memtrace placement jit check-jit drive sweep fleet mcp; do
    matches "the installed program runs $command" "$("$prefix/bin/mmprof" "$command" --help 2>&1 | head -n 1)" \
        "^usage: mmprof $command "
done
# Only where it is installed: a program of that name on the PATH is another one.
mkdir -p "$SCRATCH/path"
printf '#!/bin/sh\necho wrong\n' | tee "$SCRATCH/path/mmprof-fleet" > "$SCRATCH/path/mmprof-jit"
chmod +x "$SCRATCH/path/mmprof-fleet" "$SCRATCH/path/mmprof-jit"
mv "$prefix/libexec" "$SCRATCH/libexec"
is "without the other programs, the reason and the next step are printed" \
    "$(PATH=$SCRATCH/path:$PATH "$prefix/bin/mmprof" fleet --help 2>&1 | sed "s,$prefix,PREFIX,g")" \
    "mmprof fleet: 'mmprof-fleet' is not installed: it is not in 'PREFIX/bin/libexec/mmprof/' or \
'PREFIX/bin/../libexec/mmprof/'
  next: run 'make' or 'make install' again"
mv "$SCRATCH/libexec" "$prefix/libexec"
holds "make uninstall succeeds" made uninstall
is "and leaves no file" "$(find "$SCRATCH/root" ! -type d)" ""

if ! command -v dpkg-shlibdeps > "$SCRATCH/which"; then
    skip "make package builds a Debian package" "there is no dpkg-dev"
else
    package=$(made package 2> "$SCRATCH/errors" | tail -n 1)
    [ -s "$package" ] && ok "make package builds a Debian package" || not_ok "make package builds a Debian package" \
        "$(cat "$SCRATCH/errors")"
    matches "it depends on the libraries that the program needs" "$(dpkg-deb -f "$package" Depends)" 'libc6 .*libelf'
    if command -v lintian > "$SCRATCH/which"; then
        is "lintian finds no error in it" "$(lintian --fail-on none "$package" 2> "$SCRATCH/errors" | grep '^E:')" ""
    else
        skip "lintian finds no error in it" "there is no lintian"
    fi
    debian=$SCRATCH/debian
    mkdir -p "$debian/var/lib/dpkg/updates" "$debian/var/lib/dpkg/info"
    : > "$debian/var/lib/dpkg/status"
    in_root() {
        dpkg --root="$debian" --log=/dev/null --force-depends --force-not-root --force-bad-path "$@"
    }
    holds "it can be installed" in_root -i "$package"
    matches "and runs" "$("$debian/usr/bin/mmprof" version 2>&1)" '^mmprof [0-9]+\.[0-9]+'
    matches "and so does a program that it starts" "$("$debian/usr/bin/mmprof" fleet --help 2>&1 | head -n 1)" \
        '^usage: mmprof fleet '
    holds "it can be removed" in_root -P mmprof
    is "and leaves no file" "$(find "$debian/usr" -type f 2> "$SCRATCH/which")" ""
    rm -f "$package"
fi

done_testing
