#!/usr/bin/python3
"""What 'mmprof profile' costs a service that waits most of its time:   make bench-service

    service_cost.py MMPROF CLASSES JDK ...

target.Shop runs on each JDK, with the same requests at the same times in each six seconds, and is warm after BENCH_WARM
(240) seconds.  Then BENCH_WINDOWS (6) windows with a recording of BENCH_SECONDS (20), and as many without one that are
treated alike (placebo), each between two without: of a window's CPU time, the mean of its neighbours is subtracted.
Two JVMs run at once and are recorded in turns.  BENCH_OPTIONS="--budget 5%" gives 'profile' these options, too.

Printed are, in per cent of the JVM's CPU time in BENCH_SECONDS, medians over the windows with the median's interval
(sign test; 97 % with six windows): the application's threads, the JIT compilers', the others of the JVM, the agent's,
mmprof's own process with the report, and all of them.  The placebo's says what this machine can tell.
"""
import atexit
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

SETTINGS = {"WARM": 240, "WINDOWS": 6, "SECONDS": 20}
SETTINGS = {name: int(os.environ.get("BENCH_" + name, usual)) for name, usual in SETTINGS.items()}
PERIOD = 6.0  # the requests are the same again
WINDOW = PERIOD * (int(SETTINGS["SECONDS"] / PERIOD) + 1)
GROUPS = [("compilers", r"^C[12] "), ("agent", r"^mmprof"), ("JVM", r"^(GC |G1 |VM |Monitor|Service|Signal|Sweeper)")]
COLUMNS = ["application", "compilers", "JVM", "agent", "mmprof"]


def process_ms(pid):
    """Of its threads that have ended, too."""
    return time.clock_gettime_ns((~pid << 3) | 2) / 1e6


class Service:
    def __init__(self, jdk, classes, directory):
        def start(name, *words):
            path = os.path.join(directory, os.path.basename(jdk) + "." + name)
            process = subprocess.Popen([jdk + "/bin/java", "-cp", classes, *words], stdout=open(path, "w"))
            atexit.register(process.kill)
            for _ in range(300):
                said = re.search(r"^(?:PORT (\d+)|UP)$", open(path).read(), re.M)
                if said:
                    return process, said.group(1)
                time.sleep(0.1)
            sys.exit("service_cost: '%s' does not start %s" % (jdk, name))

        self.name, self.rows = os.path.basename(jdk), []
        self.database, port = start("database", "-Xmx64m", "target.Shop", "database")
        options = ["-Xmx300m", "-XX:+EnableDynamicAgentLoading", "-Dsteady=true"]
        self.jvm, _ = start("service", *options, "target.Shop", port)
        self.trace = os.path.join(directory, self.name + ".profile")
        self.names, self.ms, self.recording = {}, {}, None

    def look(self):
        """The threads' CPU time so far."""
        tasks = "/proc/%d/task/" % self.jvm.pid
        for tid in os.listdir(tasks):
            try:
                self.ms[tid] = int(open(tasks + tid + "/schedstat").read().split()[0]) / 1e6
                self.names[tid] = open(tasks + tid + "/comm").read().strip()
            except OSError:
                pass

    def sums(self):
        self.look()
        sums = dict.fromkeys(COLUMNS, 0.0)
        for tid, ms in self.ms.items():
            name = self.names.get(tid, "")
            sums[next((group for group, names in GROUPS if re.search(names, name)), "application")] += ms
        # What a thread had after the last look: those that end are the agent's.
        sums["agent"] += process_ms(self.jvm.pid) - sum(self.ms.values())
        return sums

    def record(self, mmprof):
        words = [mmprof, "profile", "-q", "-d", str(SETTINGS["SECONDS"]), "-o", self.trace, "-p", str(self.jvm.pid)]
        words += os.environ.get("BENCH_OPTIONS", "").split()
        self.recording = subprocess.Popen(words, stdout=subprocess.DEVNULL)

    def recorder_ms(self):
        if self.recording is None:
            return 0.0
        _, status, usage = os.wait4(self.recording.pid, 0)
        if status != 0:
            sys.exit("service_cost: a recording failed")
        self.recording = None
        return (usage.ru_utime + usage.ru_stime) * 1e3


def run_window(services, kinds, mmprof, end):
    """One row for each of them: its kind, and what its columns have come to in ms."""
    before = [service.sums() for service in services]
    for service, kind in zip(services, kinds):
        if kind == "on":
            service.record(mmprof)
    while time.monotonic() < end:
        for service in services:
            service.look()
        time.sleep(max(0, min(0.5, end - time.monotonic())))
    for service, kind, first in zip(services, kinds, before):
        row = {column: ms - first[column] for column, ms in service.sums().items()}
        row["mmprof"] = service.recorder_ms()
        service.rows.append((kind, row))


def interval(values):
    """The k-th smallest and largest enclose the median in all but 5 % of cases, or as many as there are."""
    values, n, k, p = sorted(values), len(values), 0, 0.5 ** len(values)
    total = p
    while total <= 0.025:
        k += 1
        p = p * (n - k + 1) / k
        total += p
    k = max(k, 1)
    return "%.1f [%.1f .. %.1f]" % (statistics.median(values), values[k - 1], values[n - k])


def table(service):
    without = [sum(row.values()) for kind, row in service.rows if kind == "off"]
    whole = statistics.median(without) * SETTINGS["SECONDS"] / WINDOW
    print("%s: %.0f ms of CPU time in %d s" % (service.name, whole, SETTINGS["SECONDS"]))
    for kind in ("on", "placebo"):
        more = []
        for i, (its, row) in enumerate(service.rows):
            if its == kind:
                around = [service.rows[i - 1][1], service.rows[i + 1][1]]
                more.append({c: (row[c] - (around[0][c] + around[1][c]) / 2) / whole * 100 for c in COLUMNS})
        cells = ["%s %s" % (c, interval([one[c] for one in more])) for c in COLUMNS]
        print("    %-8s all %s; %s" % (kind, interval([sum(one.values()) for one in more]), ", ".join(cells)))


def main(mmprof, classes, jdks):
    with tempfile.TemporaryDirectory() as directory:
        services = [Service(jdk, classes, directory) for jdk in jdks]
        begin = time.monotonic() + SETTINGS["WARM"]
        time.sleep(SETTINGS["WARM"])
        for i in range(4 * SETTINGS["WINDOWS"] + 1):
            kinds = ["off" if i % 2 == 0 else "on" if (i // 2 + k) % 2 == 0 else "placebo" for k in range(len(jdks))]
            run_window(services, kinds, mmprof, begin + WINDOW * (i + 1))
        for service in services:
            table(service)


if len(sys.argv) < 4:
    sys.exit(__doc__)
main(sys.argv[1], sys.argv[2], sys.argv[3:])
