#!/usr/bin/python3
"""The tables of 'make bench-drive':   drive_tables.py DIR

DIR has of each run NAME.VARIANT.TURN the files .times (test/tools/iteration_times), .log (-Xlog:jit+compilation) and
.json (of 'mmprof drive').  CPU time is of the JVM and mmprof together.  An interval has 95 %: Student's, of the mean of
logarithms of quotients in the same turn.

one run     CPU time until the first iteration was over, over that with the same samples and nothing compiled
            ('nothing')
steady      CPU time of an iteration, the mean of the last ten, likewise; 'own': without the compilers' and collector's
            threads, the agent's and mmprof: what the compiled code takes.  'CoV': the median over the runs of the last
            ten's coefficient of variation, and in how many runs ten in a row were below 2 %, which thesis §A.1 calls
            steady
course      CPU time of some iterations, in ms, the mean over the runs: Figure 4.4
decisions   Table 4.3: samples, methods that have some, methods weighed by the model, chosen, and taken by the JVM
tiers       Figure 4.5: methods compiled, by tier, in the JVM's log; not in loops (OSR)
sooner      when the methods that every run of both compiled at this tier were handed to its compiler: how many they
            are, and the mean of their times since the JVM's start, CPU and wall, over that of 'nothing'
consuming   CPU time of mmprof's own process, of the agent and of the compilers' threads, in % of all
"""
import bisect
import collections
import glob
import json
import math
import os
import re
import statistics
import sys

VARIANTS = ["alone", "nothing", "random", "model"]
BASE = "nothing"
LAST, COV = 10, 0.02
COURSE = [1, 2, 3, 5, 10, 20, 30, 40, 50]
KEYS = ["samples", "methods_sampled", "methods_proposed", "methods_chosen", "methods_taken"]
# Two-sided 95 %, by degrees of freedom.
STUDENT = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13]
COMPILED = re.compile(r"\[(\d+)ns\] +\d+ [ %][ s][ !][ b][ n] +([1-4]) +(\S+) +\(\d+ bytes\) *$")
OSR = re.compile(r"^\[\d+ns\] +\d+ %")


class Run:
    """One JVM: cpu[k], compilers[k], ... are seconds at the end of iteration k, with a 0 before the first."""

    def __init__(self, path):
        rows = [[float(x) for x in line.split()] for line in open(path)]
        self.ends = [row[0] for row in rows]
        self.cpu = [0.0] + [row[1] + row[5] for row in rows]
        self.compilers = [0.0] + [row[2] for row in rows]
        self.others = [0.0] + [row[2] + row[3] + row[4] + row[5] for row in rows]
        self.agent, self.mmprof = (rows[-1][4], rows[-1][5]) if rows else (0, 0)
        self.starts, self.first = None, {}
        self.read_log(path[:-len("times")] + "log")
        self.counts = self.read_json(path[:-len("times")] + "json")

    def read_log(self, path):
        for line in open(path, errors="replace"):
            found = COMPILED.match(line)
            if self.starts is None and line.startswith("["):
                self.starts = int(line[1:line.index("ns")]) / 1e9
            if found and not OSR.match(line):
                self.first.setdefault((int(found[2]), found[3]), int(found[1]) / 1e9)

    @staticmethod
    def read_json(path):
        text = open(path).read()
        at = re.search(r"^\{", text, re.M)
        return json.loads(text[at.start():])["about"] if at else None

    def iterations(self, series):
        return [b - a for a, b in zip(series, series[1:])]

    def own(self):
        return [a - b for a, b in zip(self.cpu, self.others)]

    def cpu_at(self, when):
        """Between ends of iterations, in proportion to time."""
        times = [self.starts] + self.ends
        k = min(max(bisect.bisect(times, when), 1), len(times) - 1)
        share = (when - times[k - 1]) / (times[k] - times[k - 1])
        return self.cpu[k - 1] + share * (self.cpu[k] - self.cpu[k - 1])


def variation(values):
    return statistics.stdev(values) / statistics.mean(values) if len(values) >= LAST else float("nan")


def is_steady(run):
    times = run.iterations(run.cpu)
    return any(variation(times[k:k + LAST]) < COV for k in range(len(times) - LAST + 1))


def quotient(pairs):
    """'1.02 (0.98 to 1.06)' of pairs of a value and its base."""
    logs = [math.log(a / b) for a, b in pairs if a > 0 and b > 0]
    if len(logs) < 2:
        return "-"
    mean = statistics.mean(logs)
    df = len(logs) - 1
    half = (STUDENT[df - 1] if df <= len(STUDENT) else 2.1) * statistics.stdev(logs) / math.sqrt(len(logs))
    return f"{math.exp(mean):.3f} ({math.exp(mean - half):.3f} to {math.exp(mean + half):.3f})"


def against_base(runs, variant, value):
    """Turns that both have."""
    turns = sorted(set(runs[variant]) & set(runs[BASE]))
    return quotient([(value(runs[variant][t]), value(runs[BASE][t])) for t in turns])


def last(series_of):
    """Not known of fewer iterations."""
    return lambda run: sum(run.iterations(series_of(run))[-LAST:]) / LAST if len(run.ends) >= LAST else float("nan")


def mean_of(runs, value):
    values = [value(run) for run in runs.values()]
    return statistics.mean(values) if values else float("nan")


def print_quotients(name, runs, variants):
    for variant in variants:
        values = [against_base(runs, variant, value)
                  for value in (lambda run: run.cpu[1], last(lambda run: run.cpu), last(Run.own))]
        cov = statistics.median(variation(run.iterations(run.cpu)[-LAST:]) for run in runs[variant].values())
        steady = sum(is_steady(run) for run in runs[variant].values())
        varies = "-" if math.isnan(cov) else f"{100 * cov:4.1f} %, {steady} of {len(runs[variant])}"
        print(f"{name:<12} {variant:<8} {len(runs[variant]):>4}  " + "  ".join(f"{v:<22}" for v in values + [varies]))


def print_course(name, runs, variants):
    n = min(len(run.ends) for variant in variants for run in runs[variant].values())
    at = [k for k in COURSE if k <= n]
    print(f"\n{name}, course" + "".join(f"{k:>8}" for k in at))
    for variant in variants:
        print(f"{variant:<{len(name) + 8}}" + "".join(
            f"{1e3 * mean_of(runs[variant], lambda run, k=k: run.cpu[k] - run.cpu[k - 1]):>8.0f}" for k in at))


def print_decisions(name, runs, variants):
    print(f"\n{name:<22}" + "".join(f"{key.removeprefix('methods_'):>10}" for key in KEYS) + "   by tier 1, 2, 3, 4")
    for variant in variants:
        counts = [run.counts for run in runs[variant].values() if run.counts]
        cells = [f"{statistics.mean(c[key] for c in counts):.0f}" if counts else "-" for key in KEYS]
        tiers = [mean_of(runs[variant], lambda run, t=t: sum(tier == t for tier, _ in run.first)) for t in (1, 2, 3, 4)]
        print(f"{variant:<22}" + "".join(f"{cell:>10}" for cell in cells) + "   " +
              ", ".join(f"{t:.0f}" for t in tiers))


def compiled_in_all(runs, tier):
    return set.intersection(*({method for t, method in run.first if t == tier} for run in runs.values()))


def print_sooner(runs, variants):
    for tier in (3, 4):
        for variant in variants:
            every = compiled_in_all(runs[variant], tier) & compiled_in_all(runs[BASE], tier)
            cpu = against_base(runs, variant, lambda run: sum(run.cpu_at(run.first[tier, m]) for m in every))
            wall = against_base(runs, variant, lambda run: sum(run.first[tier, m] - run.starts for m in every))
            if variant != BASE:
                print(f"sooner, tier {tier}, {len(every):>4} methods, {variant:<8} CPU {cpu:<22}  wall {wall}")


def print_consuming(runs, variants):
    for variant in variants:
        shares = [100 * mean_of(runs[variant], lambda run, v=v: v(run) / run.cpu[-1])
                  for v in (lambda run: run.mmprof, lambda run: run.agent, lambda run: run.compilers[-1])]
        print(f"consuming, {variant:<8} " + ", ".join(
            f"{word} {share:.2f} %" for word, share in zip(("mmprof", "agent", "compilers"), shares)))


def main():
    programs = collections.defaultdict(lambda: {variant: {} for variant in VARIANTS})
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.times"))):
        name, variant, turn = os.path.basename(path)[:-len(".times")].rsplit(".", 2)
        run = Run(path) if int(turn) > 0 else None
        if run and run.ends:
            programs[name][variant][int(turn)] = run
    print(f"{'':<12} {'':<8} runs  {'one run':<22}  {'steady':<22}  {'steady, own':<22}  CoV")
    for name, runs in programs.items():
        print_quotients(name, runs, [v for v in VARIANTS if runs[v]])
    for name, runs in programs.items():
        variants = [v for v in VARIANTS if runs[v]]
        print_course(name, runs, variants)
        print_decisions(name, runs, variants)
        print_sooner(runs, variants)
        print_consuming(runs, variants)


main()
