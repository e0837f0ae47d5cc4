#!/usr/bin/env python3
"""Who needs whom, by the symbols of objects:   circles.py BUILD RULES OBJECT...

RULES is a file of lines 'ROOM ROOM...': a room, and the rooms that it may call besides itself; and of lines
'circle FILE FILE...': files of one room (without their endings) that may need each other.  Prints a line for each call
of a room that is not allowed, and for each circle of files that is not.  An object's file is its path below BUILD.
"""
import os
import subprocess
import sys


def read_symbols(objects, build):
    """The file that defines each symbol, and the symbols that each file needs."""
    home, needs = {}, {}
    listing = subprocess.run(["nm", "-A"] + objects, capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        path, _, rest = line.partition(":")
        name = os.path.relpath(path, build).removeprefix("pic/").removesuffix(".o")
        words = rest.split()
        needs.setdefault(name, set())
        if len(words) == 3 and words[1] in "TDBRVW":
            home[words[2]] = name
        elif len(words) == 2 and words[0] == "U":
            needs[name].add(words[1])
    return {f: {home[s]: s for s in sorted(needs[f]) if home.get(s, f) != f} for f in needs}


def reachable(edges, start):
    seen, todo = set(), [start]
    while todo:
        for other in edges.get(todo.pop(), {}):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen


def main():
    build, rules, objects = sys.argv[1], sys.argv[2], sys.argv[3:]
    may, circles = {}, []
    with open(rules, encoding="utf-8") as file:
        lines = file.read().replace("\\\n", " ").splitlines()
    for line in lines:
        words = line.split("#")[0].split()
        if words and words[0] == "circle":
            circles.append(set(words[1:]))
        elif words:
            may.setdefault(words[0], set()).update(words)
    edges = read_symbols(objects, build)
    for name in sorted(edges):
        room = os.path.dirname(name)
        for other, symbol in sorted(edges[name].items()):
            if os.path.dirname(other) not in may.get(room, ()):
                print(f"{name} must not call {other} ({symbol})")
    reach = {name: reachable(edges, name) for name in edges}
    told = set()
    for name in sorted(edges):
        circle = {other for other in reach[name] if name in reach.get(other, ())}
        if len(circle) > 1 and name not in told and not any(circle <= allowed for allowed in circles):
            print("a circle:", *sorted(circle))
        told |= circle


main()
