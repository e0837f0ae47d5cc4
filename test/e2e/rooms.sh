#!/bin/bash
# The rooms: who includes and calls whom, what each says of itself, and what the agent needs and shows.
# beside: yes
. "$(dirname "$0")/../lib.sh"

# A room, and the rooms that it may include besides itself.  Data goes down the table.
rooms() {
    cat << 'END'
core/base
core/wire          core/base
core/trace         core/base core/wire
core/emu/model     core/base core/wire
core/pmu           core/base core/wire core/trace
core/perf          core/base core/wire core/trace core/pmu
core/jvm           core/base core/wire core/trace core/pmu core/perf
core/hotspot       core/base core/wire core/trace core/jvm
core/emu/plugin    core/base core/wire core/trace core/emu/model core/hotspot
core/agent/rewrite     core/base core/wire core/trace core/hotspot
core/agent/control     core/base core/wire core/trace core/pmu core/agent/rewrite
core/agent/probe       core/base core/wire core/trace core/pmu core/agent/control
core/agent/codecache   core/base core/wire core/trace core/hotspot core/agent/control
core/agent/instrument  core/base core/wire core/trace core/hotspot core/agent/rewrite core/agent/control
core/agent/instrument  core/agent/codecache core/agent/probe
core/agent/stacks      core/base core/wire core/trace core/hotspot core/agent/rewrite core/agent/control
core/agent/stacks      core/agent/probe
core/agent/stacks      core/agent/codecache core/agent/instrument
core/agent             core/base core/wire core/trace core/pmu core/hotspot core/agent/control core/agent/probe
core/agent             core/agent/codecache core/agent/instrument core/agent/stacks
core/recorder      core/base core/wire core/trace core/hotspot core/pmu core/perf core/jvm
core/emu/tool      core/base core/wire core/trace core/emu/model core/emu/plugin core/hotspot
core/emu/tool      core/recorder
core/emu/run       core/base core/wire core/trace core/emu/model core/pmu core/recorder
core/agent/lab     core/base core/wire core/hotspot core/emu/model core/emu/run core/agent/control
core/agent/lab     core/agent/codecache
core/emu/memtrace  core/base core/wire core/emu/tool
core/emu/placement core/base core/wire core/emu/model core/emu/plugin core/hotspot
symbolize          core/base core/wire core/trace core/pmu core/jvm core/recorder
phases/tree        core/base core/trace core/wire symbolize
phases/samples     core/base core/wire phases/tree
phases/select      core/base phases/samples phases/tree
phases/live        core/base core/jvm core/pmu core/recorder core/trace core/wire phases/samples
phases/live        phases/tree symbolize
phases/compile     core/base
report/format      core/base
report             core/base core/hotspot core/pmu core/trace phases/samples phases/select phases/tree
report             report/format symbolize
report/view        core/base core/emu/memtrace core/emu/placement core/hotspot core/perf core/pmu core/recorder
report/view        core/trace phases/samples phases/select phases/tree report report/format symbolize
report/findings    core/base core/trace phases/samples phases/tree report report/format report/view symbolize
report/jit         core/base core/hotspot report/format symbolize
report/export      core/base core/pmu core/trace phases/tree report report/format symbolize
report/fleet       core/base core/trace phases/samples phases/select phases/tree report report/format
report/fleet       report/view symbolize
report/html        core/base core/trace phases/select phases/tree report report/export report/format report/view
report/html        symbolize
report/diff        core/base core/trace phases/samples phases/select phases/tree report report/format
report/diff        report/view symbolize
cmd                core/base core/hotspot core/jvm core/perf core/pmu core/recorder core/trace phases/live
cmd                phases/samples phases/select phases/tree report report/diff report/export report/findings
cmd                report/format report/html report/view symbolize
cmd/lab            cmd core/base core/emu/memtrace core/emu/model core/emu/placement core/emu/run core/hotspot core/jvm
cmd/lab            core/pmu core/recorder core/trace phases/compile phases/samples phases/select report report/findings
cmd/lab            report/format report/jit report/view symbolize
cmd/fleet          cmd core/base core/trace report/fleet report/format report/html
cmd/mcp            cmd core/base
END
}

# All #include "..." of the rooms below a directory, as 'FILE INCLUDED'.
includes() {
    local dir
    cd "$1" || return
    for dir in core symbolize phases report cmd; do
        [ ! -d $dir ] || grep -rHoE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^"]*"' $dir
    done | sed -E 's/^([^:]*):[^"]*"([^"]*)"$/\1 \2/'
}

# Includes that break the table, one a line.
breaches() {
    includes "$1" | awk -v table="$(rooms)" '
        function room(path) { sub(/\/[^\/]*$/, "", path); return path }
        BEGIN {
            n = split(table, rows, "\n")
            for (i = 1; i <= n; i++) {
                m = split(rows[i], words, " ")
                known[words[1]] = 1
                for (j = 1; j <= m; j++) may[words[1], words[j]] = 1
            }
        }
        !(room($1) in known) { print $1 ": is in no room of the table"; next }
        !(room($2) in known) { print $1 ": includes \"" $2 "\", which names no room"; next }
        !((room($1), room($2)) in may) { print $1 ": " room($1) " must not include " $2 }'
}

is "a room includes itself and earlier ones only" "$(breaches "$root")" ""
[ "$(includes "$root" | wc -l)" -gt 10 ] && ok "the includes are found" || not_ok "the includes are found"

guests() {
    includes "$1" | awk '$2 ~ /^core\/agent\// && $1 !~ /^core\/agent\//'
}
is "nothing outside core/agent includes its headers" "$(guests "$root")" ""

bad=$SCRATCH/bad
mkdir -p "$bad/core/base" "$bad/core/agent" "$bad/symbolize" "$bad/core/attic"
echo '#include "phases/tree/calltree.h"' > "$bad/core/base/early.c"
echo '# include "core/jvm/attach.h"' > "$bad/core/agent/guest.c"
printf '#include "core/trace/trace.h"\n#include "tree.h"\n#include <stdio.h>\n' > "$bad/symbolize/tree.c"
echo '#include "core/base/err.h"' > "$bad/core/attic/old.c"
echo '#include "core/agent/agent.h"' > "$bad/symbolize/guest.c"
is "one that does is found" "$(guests "$bad")" "symbolize/guest.c core/agent/agent.h"
rm "$bad/symbolize/guest.c"
is "bad includes are found" "$(breaches "$bad" | sort)" "\
core/agent/guest.c: core/agent must not include core/jvm/attach.h
core/attic/old.c: is in no room of the table
core/base/early.c: core/base must not include phases/tree/calltree.h
symbolize/tree.c: includes \"tree.h\", which names no room"

# Rooms without a README.md of 15 lines at most; those of the emulator have one together.
unsaid() {
    local room lines
    for room in $(rooms | awk '{ sub(/^core\/emu\/.*/, "core/emu", $1); print $1 }' | sort -u); do
        lines=$(cat "$root/$room/README.md" 2> "$SCRATCH/missing" | wc -l)
        [ "$lines" -gt 0 ] && [ "$lines" -le 15 ] || echo "$room ($lines lines)"
    done
}

is "each room says in a README.md of 15 lines what comes in and what goes out" "$(unsaid)" ""

# ---- by the symbols of what is built ----

# Files of a room that need each other.
circles() {
    cat << 'END'
# what is suggested is tried
circle core/pmu/events core/pmu/events_known
END
}

# objects DIR PATTERN: the objects below it of the sources that there are, but for those whose path has the pattern.
objects() {
    (cd "$root" && find core symbolize phases report cmd -name '*.c' ! -path 'core/emu/tool/examples/*') |
        grep -vE "$2" | sed "s,^,$1/,; s/c$/o/" | xargs ls 2> "$SCRATCH/missing"
}

needs() {
    objects "$1" "$2" | xargs python3 "$root/test/tools/circles.py" "$build" "$SCRATCH/rules"
}

{
    rooms
    circles
} > "$SCRATCH/rules"
[ "$(objects "$build/pic" '^core/emu' | wc -l)" -gt 50 ] && ok "the objects are found" || not_ok "the objects are found"
is "mmprof: no room calls an earlier one, no other files need each other" \
    "$(needs "$build" '^core/(agent|emu/(plugin|tool))/')" ""
is "the agents: likewise" "$(needs "$build/pic" '^core/emu|agent_of_lab')" ""
is "what runs in the emulator: likewise" "$(needs "$build/pic" '^core/agent')" ""
# Functions and data of the objects that no other object needs and no test names, but for what others load or call.
alone() {
    grep -rhoE --include='*.[ch]' '\w+' "$1" | sort -u > "$SCRATCH/tested"
    { objects "$build" '^core/(agent|emu/(plugin|tool))/'; objects "$build/pic" '^$'; } | xargs nm -A | awk '
        $(NF - 1) == "U" { needed[$NF] = 1; next }
        $(NF - 1) ~ /^[TDBR]$/ { path = $1; sub(/:.*/, "", path); home[$NF] = path }
        END { for (symbol in home) if (!(symbol in needed)) print symbol, home[symbol] }' | sort |
        join -v 1 - "$SCRATCH/tested" |
        grep -vE '^(main|Agent_|Java_|qemu_plugin_|mmprof_tool |sim_enter_|sim_windows_|qemu_block)'
}
is "what only its own file uses is static" "$(alone "$root/test")" ""
[ "$(alone "$root/man" | wc -l)" -gt 10 ] && ok "what is not is found" || not_ok "what is not is found"
echo 'core/base' > "$SCRATCH/rules"
matches "calls that are not allowed are found" "$(needs "$build/pic" '^core/emu' | head -n 1)" 'must not call'

# variables DIR FOLDER: those objects of the folder that have writable data.
variables() {
    objects "$1" '^$' | grep "/$2/" | xargs size -A |
        awk '/:$/ { object = $1 } $1 ~ /^\.(data|bss|tdata|tbss)$/ && $2 > 0 { print object, $1, $2 }'
}
is "core/hotspot keeps nothing outside of struct vm" "$(variables "$build" core/hotspot)" ""
matches "what keeps something is found" "$(variables "$build/pic" core/agent/codecache)" 'own_vm'

# held PROGRAM: the objects that the linker put into it.
held() {
    grep -oE '(core|symbolize|phases|report|cmd)/[a-z0-9_/]+\.o' "$build/$1.map" | sort -u
}
aside='^(core/emu|core/agent/lab|report/fleet|report/jit|cmd/lab|cmd/fleet|cmd/mcp)/'
for program in mmprof libmmprof-agent.so; do
    [ "$(held $program | wc -l)" -gt 50 ] && ok "the objects of $program are known" ||
        not_ok "the objects of $program are known" "$build/$program.map: $(held $program | wc -l)"
    is "$program has none of the laboratory, the fleet and the server" "$(held $program | grep -E "$aside")" ""
done
is "mmprof-mcp has little else" "$(held mmprof-mcp | grep -vE '^(cmd|core/base)/')" ""
for program in mmprof-lab mmprof-fleet mmprof-mcp libmmprof-lab-agent.so; do
    [ "$(held $program | grep -cE "$aside")" -gt 3 ] && ok "$program has" || not_ok "$program has" "$(held $program)"
done

if [ ! -f "$agent" ]; then
    not_ok "the agent is built" "no $agent"
else
    needed=$(readelf -d "$agent" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p')
    matches "the agent needs libc" "$needed" '^libc\.so\.6$'
    is "and nothing else" \
        "$(grep -vE '^(libc\.so\.6|libpthread\.so\.0|ld-linux-(x86-64|aarch64)\.so\.[12])$' <<< "$needed")" ""
    shown=$(nm -D --defined-only "$agent" | awk '{ print $NF }')
    is "the agent shows Agent_* and Java_* only" "$(grep -vE '^(Agent_|Java_)' <<< "$shown" | grep -v '^$')" ""
    is "the agent's stack is not executable" "$(readelf -lW "$agent" | grep -c 'GNU_STACK.*RWE')" 0
fi

plugin=$build/libmmprof-sim.so
if [ ! -f "$plugin" ]; then
    not_ok "the plugin is built" "no $plugin"
else
    is "the plugin needs nothing but libc" \
        "$(readelf -d "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' |
            grep -vE '^(libc\.so\.6|libpthread\.so\.0|ld-linux-(x86-64|aarch64)\.so\.[12])$')" ""
    is "the plugin shows QEMU what it asks for only" \
        "$(nm -D --defined-only "$plugin" | awk '{ print $NF }' | sort | xargs)" \
        "qemu_plugin_install qemu_plugin_version"
fi

# shows LIBRARY NAMES: and needs libc, and of others zlib.
shows() {
    is "$1 needs nothing but libc, and zlib" \
        "$(readelf -d "$build/$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' |
            grep -vE '^(libc\.so\.6|libpthread\.so\.0|libz\.so\.1|ld-linux-(x86-64|aarch64)\.so\.[12])$')" ""
    is "$1 shows what it is asked for only" \
        "$(nm -D --defined-only "$build/$1" | awk '{ print $NF }' | sort | xargs)" "$2"
}
shows libmmprof-start.so ""
# A plugin that lacks an object is linked all the same, since QEMU has some of its functions, and cannot be loaded.
for library in sim tool placement; do
    is "libmmprof-$library.so lacks nothing that QEMU or libc does not have" \
        "$(nm -D --undefined-only "$build/libmmprof-$library.so" | grep -vE '@GLIBC|qemu_plugin_| w ' | xargs)" ""
done
shows libmmprof-tool.so "qemu_plugin_install qemu_plugin_version"
shows libmmprof-memtrace.so "mmprof_tool"
shows libmmprof-placement.so "qemu_plugin_install qemu_plugin_version"

done_testing
