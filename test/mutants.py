#!/usr/bin/env python3
"""How many changed programs the unit tests notice:   mutants.py [-n NUMBER] [-s SEED] FILE...

In each of the sources, one after the other, NUMBER (5) operators or constants are changed, one at a time and by chance
(SEED: 1), in a copy of the tree.  The unit tests that include the source's header run: a mutant that none of them notices
has survived, and is listed.  The last lines say how many were killed in each room.  A mutant that does not compile, or a
source that no unit test includes, is not counted; that many mutants mean the same as the original is to be expected.
"""
import argparse
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

CHANGES = [(r"<=", "<"), (r">=", ">"), (r" < ", " <= "), (r" > ", " >= "), (r"==", "!="), (r"!=", "=="), (r"&&", "||"),
           (r"\|\|", "&&"), (r" \+ ", " - "), (r" - ", " + "), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
           (r"(?<![\w.])[0-9]+(?![\w.])", None)]
HIDDEN = re.compile(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|^[ ]*#[ ]*(?:include|if|endif)[^\n]*', re.S | re.M)


def mutants(text):
    """All (position, end, new text) of a source, outside of comments and strings."""
    plain = HIDDEN.sub(lambda m: re.sub(r"[^\n]", "\0", m.group(0)), text)
    for pattern, new in CHANGES:
        for m in re.finditer(pattern, plain):
            yield m.start(), m.end(), new if new is not None else str(int(m.group(0)) + 1)


def tests_of(source):
    header = '#include "%s.h"' % source.removesuffix(".c")
    tests = [f for f in os.listdir("test/unit") if f.endswith("_test.c")]
    return sorted("build/test/unit/" + f[:-2] for f in tests if header in open("test/unit/" + f, encoding="utf-8").read())


def make(what):
    return subprocess.run(["make", "-s", "-j2", "BUILD=build"] + what, capture_output=True, check=False).returncode == 0


def notices(tests):
    for test in tests:
        with tempfile.TemporaryDirectory() as scratch:
            try:
                run = subprocess.run([test], env=dict(os.environ, SCRATCH=scratch), capture_output=True, timeout=60, check=False)
            except subprocess.TimeoutExpired:
                return True
        if run.returncode != 0 or b"\nnot ok" in b"\n" + run.stdout:
            return True
    return False


def try_source(source, number, chance):
    """The mutants of a source that were tried, and those that survived."""
    tests, text = tests_of(source), open(source, encoding="utf-8").read()
    if not tests or not make(tests) or notices(tests):
        print(f"{source}: no unit test that passes", flush=True)
        return 0, 0
    tried = survived = 0
    sites = list(mutants(text))
    chance.shuffle(sites)
    for start, end, new in sites:
        if tried == number:
            break
        with open(source, "w", encoding="utf-8") as out:
            out.write(text[:start] + new + text[end:])
        if not make(tests):
            continue
        tried += 1
        if not notices(tests):
            survived += 1
            line = text.count("\n", 0, start) + 1
            print(f"{source}:{line}: '{text[start:end].strip()}' as '{new.strip()}' survives", flush=True)
    with open(source, "w", encoding="utf-8") as out:
        out.write(text)
    return tried, survived


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=5)
    parser.add_argument("-s", type=int, default=1)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    rooms, chance = collections.defaultdict(lambda: [0, 0]), random.Random(options.s)
    with tempfile.TemporaryDirectory() as copy:
        for name in subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines():
            os.makedirs(os.path.join(copy, os.path.dirname(name)), exist_ok=True)
            shutil.copy2(name, os.path.join(copy, name))
        os.chdir(copy)
        for source in options.files:
            tried, survived = try_source(source, options.n, chance)
            rooms[os.path.dirname(source)][0] += tried
            rooms[os.path.dirname(source)][1] += survived
    for room, (tried, survived) in sorted(rooms.items()):
        print(f"{room}: {tried - survived} of {tried} killed" + (f" ({100 * (tried - survived) // tried} %)" if tried else ""))


sys.exit(main())
