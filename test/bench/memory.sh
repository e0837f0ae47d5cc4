#!/bin/bash
# How much memory do stack samples take of a large program?   make bench-memory
#
# A program is made with 500 threads and a class of 100 methods for each of them, 50,000 methods: a thread goes on a way
# of its own through the methods of its class, 100 calls deep, sleeps there for half a second on the average, comes
# back, and begins again.  'mmprof sample' samples it for BENCH_SECONDS (10), one way after the other.
#
# The table: samples, the largest resident memory of mmprof without the kernel's rings (RssAnon) and with them (VmHWM)
# in MB, its CPU time in per cent of a CPU, and how many calling contexts had no room.
. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 1

seconds=${BENCH_SECONDS:-10}
jdk=${JDK:-$(first_jdk)}
n_threads=500
n_methods=100

make_sources() {
    mkdir -p "$SCRATCH/source/many" "$SCRATCH/made"
    cat > "$SCRATCH/source/many/Main.java" << 'END'
package many;

import java.util.concurrent.ThreadLocalRandom;

public final class Main {
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            Runnable way = (Runnable) Class.forName("many.C" + i).getDeclaredConstructor().newInstance();
            new Thread(null, way, "way-" + i, 512 << 10).start();
        }
        System.out.println("READY");
    }

    static long rest(long x) {
        try {
            Thread.sleep(ThreadLocalRandom.current().nextInt(1000));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return x * 6364136223846793005L + 1442695040888963407L;
    }
}
END
    awk -v classes="$n_threads" -v methods="$n_methods" -v to="$SCRATCH/source/many/" 'BEGIN {
        for (i = 0; i < classes; i++) {
            file = to "C" i ".java"
            print "package many;\npublic final class C" i " implements Runnable {" > file
            print "    public void run() { for (long x = " i + 1 ";;) x = m0(x, x, 100); }" > file
            for (k = 0; k < methods; k++)
                printf "    static long m%d(long x, long w, int d) { return d == 0 ? Main.rest(x) : (w & 1) == 0 " \
                    "? m%d(x, w >>> 1 | w << 63, d - 1) : m%d(x, w >>> 1 | w << 63, d - 1); }\n", k,
                    (k * 7 + 1) % methods, (k + 13) % methods > file
            print "}" > file
            close(file)
        }
    }'
    "$jdk/bin/javac" -d "$SCRATCH/made" "$SCRATCH/source/many"/*.java
}

# largest PID FIELD: of /proc/PID/status while it runs, in MB.
largest() {
    local most=0 now
    while now=$(awk -v field="$2:" '$1 == field { print $2 }' "/proc/$1/status" 2>> "$SCRATCH/errors") &&
        [ -n "$now" ]; do
        [ "$now" -le "$most" ] || most=$now
        sleep 0.1
    done
    awk -v kb="$most" 'BEGIN { printf "%.1f\n", kb / 1024 }'
}

TIMEFORMAT='%U %S'

# sampled OPTION...
sampled() {
    local cpu pid
    exec 3> "$SCRATCH/anonymous" 4> "$SCRATCH/all"
    cpu=$({ time {
        "$mmprof" sample -p "$jvm" -d "$seconds" --json "$@" > "$SCRATCH/said" 2> "$SCRATCH/notes" &
        pid=$!
        largest "$pid" RssAnon >&3 &
        largest "$pid" VmHWM >&4 &
        wait "$pid"
    }; } 2>&1)
    echo "$*: $(sed -n 's/.*"samples":[[:space:]]*\([0-9]*\).*/\1/p' "$SCRATCH/said" | head -n 1) samples," \
        "$(cat "$SCRATCH/anonymous") and $(cat "$SCRATCH/all") MB," \
        "$(awk -v s="$seconds" '{ printf "%.1f", ($1 + $2) * 100 / s }' <<< "$cpu") % of a CPU"
    grep -E "tree-size|purged" "$SCRATCH/notes"
}

make_sources || exit 1
start "$SCRATCH/program" "$jdk/bin/java" -Xmx256m -cp "$SCRATCH/made" many.Main "$n_threads"
jvm=$pid
wait_for 60 grep -q READY "$SCRATCH/program" || exit 1
sleep 10
sampled -F 99
sampled --wall -F 99
sampled --wall -F 99 --tree-size 1M
