#!/bin/bash
# The agent, built with AddressSanitizer and UndefinedBehaviorSanitizer, at work in a JVM: attached, live, with phases,
# interrupted, left by a killed mmprof, started with the program.  It reads and writes nothing that is not its own.
# timeout: 900
# beside: yes
# long: yes
. "$(dirname "$0")/faults.bash"

library=$("${CC:-cc}" -print-file-name=libasan.so 2> "$SCRATCH/errors")
case $library in
    /*) ;;
    *) skip_all "${CC:-cc} has no libasan.so to load into a JVM (gcc has)" ;;
esac
first=$(first_jdk)
[ -n "$first" ] || skip_all "there is no JDK 17 or 25; 'make deps' installs one"

# HotSpot handles SIGSEGV itself, and never frees much of its memory.
checks="handle_segv=0:allow_user_segv_handler=1:detect_leaks=0:log_path=$SCRATCH/asan"

# A JDK's java with the library; a directory that start_busy takes for a JDK.
sanitized_jdk() {
    mkdir -p "$SCRATCH/jdk/bin"
    cat > "$SCRATCH/jdk/bin/java" << END
#!/bin/sh
LD_PRELOAD=$library\${LD_PRELOAD:+:\$LD_PRELOAD} ASAN_OPTIONS=$checks \
    UBSAN_OPTIONS=print_stacktrace=1:log_path=$SCRATCH/asan exec "$1/bin/java" "\$@"
END
    chmod +x "$SCRATCH/jdk/bin/java"
}

# What they have found, and their files are gone.
found() {
    find "$SCRATCH" -maxdepth 1 -name 'asan.*' -exec cat {} + -exec rm {} +
}

sanitized_jdk "$first"
if ! "$SCRATCH/jdk/bin/java" -version > "$SCRATCH/said" 2>&1; then
    skip_all "a JVM does not start with $library: $(tail -n 1 "$SCRATCH/said")"
fi

# It finds what it is to find, in a JVM.
cat > "$SCRATCH/bad.c" << 'END'
#include <stdlib.h>
int Agent_OnLoad(void *vm, char *options, void *reserved)
{
    volatile char *bytes = malloc(8);
    (void)vm, (void)reserved;
    bytes[options[0] - '0'] = 1;
    return 0;
}
END
"${CC:-cc}" -fsanitize=address -shared -fPIC -o "$SCRATCH/libbad.so" "$SCRATCH/bad.c"
"$SCRATCH/jdk/bin/java" -agentpath:"$SCRATCH/libbad.so=7" -version > "$SCRATCH/said" 2>&1
is "an agent that writes into its own memory only is left alone" "$?$(found)" 0
"$SCRATCH/jdk/bin/java" -agentpath:"$SCRATCH/libbad.so=8" -version > "$SCRATCH/said" 2>&1
matches "one that writes past its end is found" "$(found)" 'ERROR: AddressSanitizer: heap-buffer-overflow'

holds "the agent is built with both" make -C "$root" --no-print-directory -j2 BUILD="$build/asan-agent" \
    SANITIZE=address,undefined CFLAGS='-O1 -g' "$build/asan-agent/libmmprof-agent.so"
mkdir -p "$SCRATCH/bin"
cp "$mmprof" "$build/asan-agent/libmmprof-agent.so" "$build/libmmprof-start.so" "$SCRATCH/bin/"
mmprof=$SCRATCH/bin/mmprof

# record CLAIM OPTION...: of the busy JVM.
record() {
    local claim=$1
    shift
    "$mmprof" record -q -o "$SCRATCH/a.dat" "$@" -p "$jvm" > "$SCRATCH/said" 2>&1
    is "$claim" "$?$(cat "$SCRATCH/said")$(found)" 0
}

# has_calls CLAIM
has_calls() {
    local n
    n=$(trace_field "$SCRATCH/a.dat" RECORDS)
    [ "${n:-0}" -gt 100 ] && ok "$1" || not_ok "$1" "$(trace_counts "$SCRATCH/a.dat")"
}

attached() {
    start_busy "$SCRATCH/jdk"
    jvm=$pid
    holds "$v: the library is in the JVM" grep -q libasan "/proc/$jvm/maps"
    record "$v: all methods are recorded" -d 1 --all-methods --min-bytecodes 0
    holds "$v: by that agent" grep -q "mmprof" "/proc/$jvm/maps"
    has_calls "$v: with their calls"
    "$mmprof" phases -q -o "$SCRATCH/p.json" "$SCRATCH/a.dat"
    record "$v: a live recording, with the JIT compiler's events" -d "$(either 3 6)" --live --jit-log
    record "$v: one of its phases, with names for perf" -d 1 --phases "$SCRATCH/p.json" --perf-map
    start "$SCRATCH/said" "$mmprof" record --all-methods -q -o "$SCRATCH/a.dat" -p "$jvm"
    sleep 0.3
    stop "$pid"
    record "$v: another one after mmprof was killed" -d 1 --include 'target/*' --min-bytecodes 0
    has_calls "$v: with calls, too"
    for _ in $(seq "$(either 2 20)"); do
        record "$v: and again" --all-methods -d 0.2
    done
    stop_busy "$jvm" "$v: the JVM's results and output are those without mmprof"
    is "$v: nothing is found" "$(found)" ""
}

# launched PROGRAM ARGUMENT...: with probes in all methods from the start, and live.
launched() {
    local expected
    expected=$("$jdk/bin/java" -cp "$classes" "$@" 2>&1)
    is "$v: $1, started with all methods" "$("$mmprof" record -q --all-methods --min-bytecodes 0 \
        -o "$SCRATCH/a.dat" -- "$SCRATCH/jdk/bin/java" -cp "$classes" "$@" 2>&1)$(found)" "$expected"
    has_calls "$v: $1, with their calls"
    is "$v: $1, started live" "$("$mmprof" record -q --live -o "$SCRATCH/a.dat" -- \
        "$SCRATCH/jdk/bin/java" -cp "$classes" "$@" 2>&1)$(found)" "$expected"
}

while read -r jdk; do
    v="JDK $(jdk_version "$jdk")"
    sanitized_jdk "$jdk"
    attached
    launched target.Checks "$(either 200 1000)"
done < <(fault_jdks)

done_testing
