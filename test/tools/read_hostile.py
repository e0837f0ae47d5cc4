#!/usr/bin/env python3
"""Reads what mmprof prints of a trace with hostile names (make_hostile names): read_hostile.py MMPROF TRACE SCRATCH.

Says what is wrong: a text with control characters or that is not UTF-8, JSON, CSV or folded stacks that do not parse, a
page with a script of somebody else's.
"""
import csv
import io
import json
import re
import subprocess
import sys

MMPROF, TRACE, SCRATCH = sys.argv[1:]
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
VIEWS = "phases findings tree callers=* callees=* groups groups=thread stats timeline inlining cost".split()


def printed(*words):
    run = subprocess.run([MMPROF, *words], capture_output=True, check=False)
    if run.returncode not in (0, 1):
        print(words, "ended with", run.returncode)
    return run.stdout, run.stderr


def check_text(what, text):
    try:
        found = CONTROLS.search(text.decode().replace("\r\n", "\n"))
        if found:
            print(what, "has a control character behind", repr(text.decode()[: found.start()][-40:]))
    except UnicodeDecodeError as error:
        print(what, "is not UTF-8:", error)


def check_json(what, text):
    check_text(what, text)
    try:
        json.loads(text)
    except ValueError as error:
        print(what, "is no JSON:", error)


def check_page(what, text):
    check_text(what, text)
    if text.count(b"<script") != text.count(b"</script>") or b"<!--" in text:
        print(what, "has markup of a name")


for view in VIEWS:
    for text in printed("report", "--view", view, TRACE):
        check_text(view, text)
    if (text := printed("report", "--view", view, "--json", TRACE)[0]) != b"":
        check_json(view + " as JSON", text)
    rows = list(csv.reader(io.StringIO(printed("report", "--view", view, "--csv", TRACE)[0].decode(), newline="")))
    if len({len(row) for row in rows}) > 1:
        print(view, "as CSV has rows of", {len(row) for row in rows}, "fields")
for words in (["phases", "-o", SCRATCH + "/phases.json"], ["dump"], ["dump", "--tables"], ["advise"], ["diff", TRACE]):
    for text in printed(*words, TRACE):
        check_text(words[0], text)
with open(SCRATCH + "/phases.json", "rb") as file:
    check_json("phases.json", file.read())
for name in ("speedscope", "chrome", "json"):
    check_json(name, printed("export", "-q", "-f", name, TRACE)[0])
for line in printed("export", "-q", "-f", "folded", TRACE)[0].decode().split("\n")[:-1]:
    if not re.fullmatch(r"[^;]+(;[^;]+)* \d+", line):
        print("a folded stack is no", repr(line))
check_page("flamegraph", printed("export", "-q", "-f", "flamegraph", TRACE)[0])
printed("report", "--html", SCRATCH + "/page.html", TRACE)
with open(SCRATCH + "/page.html", "rb") as file:
    check_page("the page", file.read())
for name in ("pprof", "otlp", "jfr", "parquet"):
    printed("export", "-q", "-f", name, "-o", f"{SCRATCH}/x.{name}", TRACE)
