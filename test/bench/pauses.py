#!/usr/bin/python3
"""How long mmprof stops a program, and for what:   make bench-pauses [WORKLOADS=DIR]      (root, perf)

    pauses.py MMPROF CLASSES JDK ...

target.Busy, two threads that compute all the time, bench.Classes with 20,000 classes, and what WORKLOADS/commands names
(as for overhead.sh; JDK 17 and 25 run it alike) are warm after BENCH_WARM (5) seconds of CPU time, and are recorded for
BENCH_SECONDS (5) in the ways that users have, each in a JVM of its own.  BENCH_ONLY="NAME ..." takes only these.

A row has all stops in the JVM's own log but those for collections, from before mmprof attaches until after it has left:
their number, and of the longest one its operation and milliseconds: until all threads had come to the safepoint, at it,
and both.  'on a CPU' is the part of a stop in which a thread of the JVM had one (of the compilers' and the collector's
there is no need to come), by the kernel's switches, and the longest of these: what stops take where nobody else wants
the CPUs.  On a busy machine a stop is longer by all the time that the last thread to come, or the JVM's own, waits for
one.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

WARM, SECONDS = (int(os.environ.get("BENCH_" + name, "5")) for name in ("WARM", "SECONDS"))
SETTLE = 2.5  # s, until perf has begun
STOP = re.compile(r'\[(\d+)ns\].*Safepoint "(\w+)".*Reaching safepoint: *(\d+) ns.*At safepoint: *(\d+) ns'
                  r'.*Total: *(\d+) ns')
SWITCH = re.compile(r"\[(\d+)\] +(\d+)\.(\d+): +sched:sched_switch: (?:prev_comm=)?(.*?)(?: prev_pid=|:)(\d+)[ \[]"
                    r".*(?: next_pid=|:)(\d+)[ \[]")
NOT_STOPPED = ("C1 ", "C2 ", "G1 ", "GC ")
WAYS = [("all", ["record", "-q", "--all-methods", "-o", "all.dat"]),
        ("phases", ["record", "-q", "--phases", "phases.json"]), ("profile", ["profile", "-q"]), ("sample", ["sample"])]


def programs(classes):
    yield "busy", ["-cp", classes, "-Dbusy.rest=false", "target.Busy", "never"]
    yield "classes", ["-cp", classes, "bench.Classes", "20000", "never"]
    path = os.path.join(os.environ.get("WORKLOADS") or "/nonexistent", "commands")
    for line in open(path) if os.path.exists(path) else []:
        words = line.split()
        if words and not words[0].startswith("#"):
            yield words[0], words[3:]


def start(java, words, log):
    process = subprocess.Popen([java, "-Xmx1g", "-XX:+EnableDynamicAgentLoading",
                                "-Xlog:safepoint*:file=%s:timenanos:filecount=0" % log, *words],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while time.clock_gettime((~process.pid << 3) | 2) < WARM:
        time.sleep(0.2)
    return process


def on_cpus(script, tids):
    """[(from, to)] in ns, in order, in which these threads had a CPU."""
    runs, since = [], {}
    for line in script.splitlines():
        found = SWITCH.search(line)
        if not found:
            continue
        cpu, seconds, fraction, name, before, after = found.groups()
        now = int(seconds) * 10**9 + int(fraction)
        if before in tids and not name.startswith(NOT_STOPPED) and cpu in since:
            runs.append((since[cpu], now))
        since[cpu] = now
    return sorted(runs)


def covered_ms(runs, start_ns, end_ns):
    total, last = 0, start_ns
    for begin, end in runs:
        if end > last and begin < end_ns:
            begin = max(begin, last)
            last = min(end, end_ns)
            total += last - begin
    return total / 1e6


def stops_of(log, skipped, runs):
    """[(operation, reach, at, total, the same three on a CPU)] in ms."""
    stops = []
    for found in map(STOP.search, open(log).readlines()[skipped:]):
        if not found or found[2].startswith(("G1", "Gen", "Parallel", "Collect")):
            continue
        end, reach, at, total = (int(found[i]) for i in (1, 3, 4, 5))
        arrived = end - total + reach
        on_cpu = covered_ms(runs, end - total, arrived), covered_ms(runs, arrived, end)
        stops.append((found[2], reach / 1e6, at / 1e6, total / 1e6, *on_cpu, sum(on_cpu)))
    return stops


def record(mmprof, java, words, way):
    """The stops of one recording, in a JVM of its own; or None, and why is printed."""
    process = start(java, words, "stops.log")
    tids = lambda: os.listdir("/proc/%d/task" % process.pid)
    skipped = len(open("stops.log").readlines())
    perf = subprocess.Popen(["perf", "record", "-q", "-a", "-k", "CLOCK_MONOTONIC", "-e", "sched:sched_switch",
                             "-o", "switches", "sleep", "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(SETTLE)
    known = set(tids())
    run = subprocess.run([mmprof, *way, "-d", str(SECONDS), "-p", str(process.pid)],
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    known |= set(tids())
    time.sleep(0.5)
    perf.send_signal(2)
    perf.wait()
    process.kill()
    process.wait()
    if run.returncode != 0:
        print("'%s' failed: %s" % (" ".join(way), run.stderr.strip()), file=sys.stderr)
        return None
    script = subprocess.run(["perf", "script", "-i", "switches", "--ns"], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, errors="replace").stdout
    return stops_of("stops.log", skipped, on_cpus(script, known))


def print_row(name, jdk, way, stops):
    load = open("/proc/loadavg").read().split()[0]
    row = "%-10s %-24s %-8s %5d" % (name, jdk, way, len(stops))
    for key in (3, 6):
        longest = max(stops, key=lambda stop: stop[key], default=("-", *6 * [0.0]))
        row += "  %-24s %6.1f %6.1f %6.1f" % (longest[0], *longest[key - 2:key + 1])
    print(row + "  %5s" % load, flush=True)


def main():
    mmprof, classes, *jdks = map(os.path.abspath, sys.argv[1:])
    only = os.environ.get("BENCH_ONLY", "").split()
    columns = "%-24s %6s %6s %6s" % ("longest stop, ms", "reach", "at", "total")
    print("%-10s %-24s %-8s %5s  %s  %s  %5s" % ("", "JDK", "", "stops", columns,
                                                columns.replace("longest stop, ms", "on a CPU        "), "load"))
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for name, words in programs(classes):
            for jdk in jdks if not only or name in only else []:
                for way, options in WAYS:
                    stops = record(mmprof, jdk + "/bin/java", words, options)
                    if way == "all":
                        subprocess.run([mmprof, "phases", "-o", "phases.json", "all.dat"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
                    if stops is not None:
                        print_row(name, os.path.basename(jdk), way, stops)


main()
