#!/bin/bash
# make install puts everything where it belongs, and make uninstall removes it.
. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 1

made() {
    make --no-print-directory BUILD="$build" DESTDIR="$SCRATCH/root" PREFIX=/opt/mmprof "$1"
}

holds "make install succeeds" made install
prefix=$SCRATCH/root/opt/mmprof
for file in bin/mmprof lib/mmprof/libmmprof-agent.so lib/mmprof/libmmprof-sim.so \
    lib/mmprof/libmmprof-tool.so lib/mmprof/libmmprof-memtrace.so include/mmprof_tool.h share/doc/mmprof/README.md \
    share/doc/mmprof/LICENSE; do
    holds "$file is installed" test -s "$prefix/$file"
done
is "all manual pages are installed" "$(cd "$prefix/share/man" && find . -type f | sed 's,.*/,,' | sort | xargs)" \
    "$(find man -type f | sed 's,.*/,,' | sort | xargs)"
matches "the installed program runs" "$("$prefix/bin/mmprof" version 2>&1)" '^mmprof [0-9]+\.[0-9]+'
holds "make uninstall succeeds" made uninstall
is "and leaves no file" "$(find "$SCRATCH/root" -type f)" ""

done_testing
