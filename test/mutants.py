#!/usr/bin/env python3
"""How many changed programs the unit tests notice:   mutants.py [-n NUMBER] [-s SEED] [-j JOBS] FILE...

In each room (folder) of the FILEs, NUMBER (60) operators or constants are drawn by chance (SEED: 1), and each is
changed alone.  Of a mutant only its own object is compiled and linked; the unit tests that run the changed line, as
gcov tells, run until the first one that fails, the quickest first, for half a minute at most.  A test that takes five
times its CPU time is in an endless loop, and fails.  A mutant that no test notices has survived, and is listed; one
whose code is the original's after optimization, or that does not compile, is replaced by another.  The last lines say
how many were killed in each room, and how many are in lines that no unit test runs: those only end-to-end tests can
notice.

Everything is built in BUILD (build/mutants); what each test runs is kept there until its program changes.
"""
import argparse
import collections
import concurrent.futures
import functools
import hashlib
import itertools
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

BUILD = os.environ.get("BUILD", "build/mutants")
TESTS_SECONDS = 30 # for one mutant
FLAGS = ["BUILD=" + BUILD, "CFLAGS=-O0 -w --coverage", "LDFLAGS=--coverage", "V=1"]
CHANGES = [(r"<=", "<"), (r">=", ">"), (r" < ", " <= "), (r" > ", " >= "), (r"==", "!="), (r"!=", "=="), (r"&&", "||"),
           (r"\|\|", "&&"), (r" \+ ", " - "), (r" - ", " + "), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
           (r"(?<![\w.])[0-9]+(?![\w.])", None)]
# Comments, strings, what is compiled or not; and what means the same with another number: errors, and room for more.
HIDDEN = re.compile(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|^[ ]*#[ ]*(?:include|if|endif)[^\n]*'
                    r"|\bchar \w+\[\d+\]|\b(?:return|rc =) -1;|\bcalloc\(1,", re.S | re.M)

Mutant = collections.namedtuple("Mutant", "source line old new text")


def mutants(source):
    """All mutants of a source, outside of comments and strings."""
    text = pathlib.Path(source).read_text(encoding="utf-8")
    plain = HIDDEN.sub(lambda m: re.sub(r"[^\n]", "\0", m.group(0)), text)
    for pattern, new in CHANGES:
        for m in re.finditer(pattern, plain):
            changed = new if new is not None else str(int(m.group(0)) + 1)
            yield Mutant(source, text.count("\n", 0, m.start()) + 1, m.group(0).strip(), changed.strip(),
                         text[:m.start()] + changed + text[m.end():])


def commands():
    """How make builds each object and test: its file in BUILD -> the command's words."""
    said = subprocess.run(["make", "-nB", "--no-print-directory"] + FLAGS + ["unit"], capture_output=True, text=True,
                          check=True)
    words = [shlex.split(line) for line in said.stdout.splitlines() if " -o " + BUILD in line]
    return {command[command.index("-o") + 1]: command for command in words}


def run_test(program, seconds, **environment):
    """Whether it passes, and the CPU time that it took: so many seconds at most, and ten times as many by the clock."""
    limits = ["timeout", "-s", "KILL", str(10 * seconds),
              "prlimit", f"--cpu={seconds}", "--fsize=2000000000", "--as=16000000000"]
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryFile() as said:
        with subprocess.Popen(limits + [program], env=dict(os.environ, SCRATCH=scratch, TMPDIR=scratch, **environment),
                              stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.DEVNULL) as run:
            _, status, used = os.wait4(run.pid, 0)
            run.returncode = status
        said.seek(0)
        return status == 0 and b"\nnot ok" not in b"\n" + said.read(), used.ru_utime + used.ru_stime


def lines_run(test, sources):
    """What a test runs of the sources, {source: {line: whether it was run}}, and its seconds; None: it fails."""
    with tempfile.TemporaryDirectory() as counts:
        for source in sources:
            notes = pathlib.Path(counts, source).with_suffix(".gcno")
            notes.parent.mkdir(parents=True, exist_ok=True)
            notes.symlink_to(pathlib.Path(BUILD, source).with_suffix(".gcno").resolve())
        depth = len(pathlib.Path(BUILD).resolve().parts) - 1
        passes, seconds = run_test(test, 60, GCOV_PREFIX=counts, GCOV_PREFIX_STRIP=str(depth))
        if not passes:
            return None
        found = {}
        data = [s for s in sources if pathlib.Path(counts, s).with_suffix(".gcda").exists()]
        said = subprocess.run(["gcov", "--json-format", "--stdout"] + [counts + "/" + s[:-1] + "gcda" for s in data],
                              capture_output=True, text=True, check=False)
        for report in said.stdout.splitlines():
            for of in json.loads(report)["files"]:
                if of["file"] in data:
                    lines = found.setdefault(of["file"], {})
                    for line in of["lines"]:
                        number = str(line["line_number"])
                        lines[number] = lines.get(number, False) or line["count"] > 0
        return {"seconds": seconds, "lines": {s: lines for s, lines in found.items() if any(lines.values())}}


def all_lines_run(tests, sources, pool):
    """lines_run of each test that passes; what is known of unchanged programs is not asked again."""
    kept = pathlib.Path(BUILD, "lines_run.json")
    known = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    keys = {t: hashlib.sha256(pathlib.Path(t).read_bytes() + " ".join(sources).encode()).hexdigest() for t in tests}
    new = [t for t in tests if keys[t] not in known]
    for test, found in zip(new, pool.map(lambda t: lines_run(t, sources), new)):
        known[keys[test]] = found
        if found is None:
            print(f"{test} does not pass as it is, and is not used", flush=True)
    kept.write_text(json.dumps({keys[t]: known[keys[t]] for t in tests}), encoding="utf-8")
    return {t: known[keys[t]] for t in tests if known[keys[t]] is not None}


def tests_of(mutant, runs):
    """The tests that run its line, the quickest first; where gcov knows no such line, those that run the source."""
    def runs_it(lines):
        return lines.get(str(mutant.line), False) if any(str(mutant.line) in of["lines"].get(mutant.source, {})
                                                         for of in runs.values()) else True
    found = [t for t, of in runs.items() if mutant.source in of["lines"] and runs_it(of["lines"][mutant.source])]
    found.sort(key=lambda t: runs[t]["seconds"])
    sums = itertools.accumulate(runs[t]["seconds"] for t in found)
    return [t for i, (t, seconds) in enumerate(zip(found, sums)) if i == 0 or seconds <= TESTS_SECONDS]


def compile_mutant(command, text, folder, name, flags):
    """Its object, or None."""
    source, out = pathlib.Path(folder, name + ".c"), pathlib.Path(folder, name + ".o")
    source.write_text(text, encoding="utf-8")
    words = [w for w in command[:command.index("-c")] if w not in ("--coverage", "-MMD", "-MP")]
    done = subprocess.run(words + flags + ["-c", "-o", str(out), str(source)], capture_output=True, check=False)
    return out if done.returncode == 0 else None


@functools.lru_cache(maxsize=None)
def optimized(command, text):
    """The optimized code."""
    with tempfile.TemporaryDirectory() as folder:
        out = compile_mutant(command, text, folder, "optimized", ["-O2"])
        return out.read_bytes() if out else b""


def try_mutant(mutant, build, runs):
    """'killed', 'not run', 'survived', 'same', or None: it does not compile."""
    command = tuple(build[BUILD + "/" + mutant.source[:-1] + "o"])
    with tempfile.TemporaryDirectory() as folder:
        changed = compile_mutant(command, mutant.text, folder, "mutant", [])
        if changed is None:
            return None
        tests = tests_of(mutant, runs)
        for test in tests:
            link, program = build[test] + ["-Wl,-rpath," + os.path.abspath(BUILD + "/test/unit/jvm")], folder + "/test"
            link[link.index("-o") + 1] = program
            link.insert(link.index(BUILD + "/mmprof.a"), str(changed))
            linked = subprocess.run(link, capture_output=True, check=False)
            if linked.returncode != 0:
                sys.exit(f"cannot link '{test}' with a mutant of '{mutant.source}': {linked.stderr.decode()}")
            passes, _ = run_test(program, 5 + int(5 * runs[test]["seconds"]), GCOV_PREFIX="/dev/null",
                                 GCOV_ERROR_FILE="/dev/null")
            if not passes:
                return "killed"
    if optimized(command, mutant.text) == optimized(command, pathlib.Path(mutant.source).read_text(encoding="utf-8")):
        return "same"
    return "survived" if tests else "not run"


def try_room(sources, number, chance, build, runs, pool):
    """The results of NUMBER mutants of a room, each with how often."""
    sites = [m for s in sources for m in mutants(s)]
    chance.shuffle(sites)
    counted = collections.Counter()
    while sites and sum(counted.values()) < number:
        some = [sites.pop() for _ in range(min(len(sites), number - sum(counted.values())))]
        for mutant, result in zip(some, pool.map(lambda m: try_mutant(m, build, runs), some)):
            if result not in (None, "same"):
                counted[result] += 1
            if result in ("survived", "not run"):
                line = mutant.text.splitlines()[mutant.line - 1].strip()
                print(f"{mutant.source}:{mutant.line}: '{mutant.old}' as '{mutant.new}': {result}: {line}", flush=True)
    return counted


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=60)
    parser.add_argument("-s", type=int, default=1)
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    subprocess.run(["make", "-s", f"-j{options.j}"] + FLAGS + ["unit"], stdout=subprocess.DEVNULL, check=True)
    build, rooms = commands(), collections.defaultdict(list)
    for source in options.files:
        rooms[os.path.dirname(source)].append(source)
    tests = sorted(f for f in build if f.startswith(BUILD + "/test/unit/") and f.endswith("_test"))
    totals = {}
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        runs = all_lines_run(tests, sorted(options.files), pool)
        for room, sources in sorted(rooms.items()):
            totals[room] = try_room(sources, options.n, random.Random(options.s), build, runs, pool)
    for room, counted in totals.items():
        n = sum(counted.values())
        print(f"{room}: {counted['killed']} of {n} killed ({100 * counted['killed'] / max(n, 1):.0f} %)"
              f", {counted['not run']} in lines that no unit test runs")


main()
