"""Changes what a JVM exports of its layout, as a build would that nobody has seen.

    moved_fields.py PID move FIELD BYTES|OTHER
        "Symbol::_body" is BYTES further than it is, or where another field is.  Prints by how many bytes.
    moved_fields.py PID release NUMBER
        The JVM is of another release.
    moved_fields.py PID try WALK_AGAIN SEED TRIES
        Moves TRIES fields, one at a time, drawn from those that walking stacks needs, and has WALK_AGAIN walk the same
        stacks each time.  Prints the moves after which more than 3 % of the stacks differ without a refusal, and how
        many were walked rightly, refused, and read wrongly.
"""
import os
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
READERS = ("code_heaps.c", "nmethod.c", "code_blobs.c", "vm_methods.c", "vm_bytecodes.c", "stack_walk.c", "vm_exports.c",
           "vm_check.c", "vm_thread_list.c")
DISTANCES = (-16, -8, -4, -2, 1, 2, 4, 8, 12, 16, 24, 32, 64)
DIFFERENT_MAX = 0.03


class Tables:
    """The tables of gHotSpotVM..., in the memory of a process: where each value is, and of how many bytes."""

    def __init__(self, pid):
        with open(f"/proc/{pid}/maps") as maps:
            first = next(line for line in maps if line.rstrip().endswith("/libjvm.so"))
        base, path = int(first.split("-")[0], 16), first.split()[-1]
        inside = f"/proc/{pid}/root{path}"
        exported = subprocess.check_output(["nm", "-D", inside if os.path.exists(inside) else path], text=True)
        self.at = {name: base + int(value, 16) for value, name in re.findall(r"(\w+) \w (gHotSpotVM\w+)", exported)}
        self.memory = open(f"/proc/{pid}/mem", "r+b", buffering=0)
        self.entries = {}
        self._read("Struct", ("TypeName", "FieldName"), ("Offset", "Address"), 8)
        self._read("Type", ("TypeName",), ("Size",), 8)
        self._read("IntConstant", ("Name",), ("Value",), 4)
        self._read("LongConstant", ("Name",), ("Value",), 8)

    def _word(self, address):
        self.memory.seek(address)
        return struct.unpack("<Q", self.memory.read(8))[0]

    def _text(self, address):
        self.memory.seek(address)
        return self.memory.read(96).split(b"\0")[0].decode(errors="replace") if address != 0 else ""

    def _read(self, table, keys, values, n_bytes):
        entry = f"gHotSpotVM{table}Entry"
        row, stride = self._word(self.at[f"gHotSpotVM{table}s"]), self._word(self.at[entry + "ArrayStride"])
        keys = [self._word(self.at[f"{entry}{key}Offset"]) for key in keys]
        values = [self._word(self.at[f"{entry}{value}Offset"]) for value in values]
        while self._word(row + keys[0]) != 0:
            name = "::".join(self._text(self._word(row + key)) for key in keys)
            # A static field has an address; an instance's has an offset.
            value = values[-1] if len(values) > 1 and self._word(row + values[1]) != 0 else values[0]
            self.entries.setdefault(name, (row + value, n_bytes))
            row += stride

    def get(self, name):
        address, n_bytes = self.entries[name]
        self.memory.seek(address)
        return int.from_bytes(self.memory.read(n_bytes), "little")

    def set_release(self, release):
        at = self.get("Abstract_VM_Version::_vm_major_version")
        if "JDK_Version::_current" in self.entries and "JDK_Version::_major" in self.entries:
            at = self.get("JDK_Version::_current") + self.get("JDK_Version::_major")
        self.memory.seek(at)
        self.memory.write(bytes([release]))

    def set(self, name, value):
        address, n_bytes = self.entries[name]
        self.memory.seek(address)
        self.memory.write((value % 2 ** (8 * n_bytes)).to_bytes(n_bytes, "little"))


def names_read():
    """What the readers ask the tables for."""
    names = set()
    for reader in READERS:
        with open(os.path.join(ROOT, "core", "hotspot", reader)) as source:
            text = source.read()
        names.update("::".join(pair) for pair in re.findall(r'\{ "([^"]+)",\s*"([^"]+)",\s*&', text))
        names.update(re.findall(r'vm_(?:type_bytes|constant)\([^")]*"([^"]+)"', text))
    return names


def is_true(now, line):
    """That there is no line number, or no source file, is not wrong."""
    if now == line:
        return True
    frames, right = now.split(" "), line.split(" ")
    return len(frames) == len(right) and all(
        frame == other or (re.search(r":0\)|\(:", frame) and
                           re.sub(r"\([^()]*:\d+\)@", "@", frame) == re.sub(r"\([^()]*:\d+\)@", "@", other))
        for frame, other in zip(frames, right))


class Tries:
    def __init__(self, pid, walk_again, seed):
        self.pid, self.walk_again, self.draw = pid, walk_again, random.Random(seed)
        self.tables = Tables(pid)
        self.names = sorted(names_read() & self.tables.entries.keys())
        self.moments = tempfile.NamedTemporaryFile()
        for seconds in ("3", "15"):  # a busy machine has few moments of it in three seconds
            subprocess.check_call([walk_again, str(pid), self.moments.name, seconds])
            os.kill(pid, signal.SIGSTOP)  # its code stays as it is
            status, self.right = self.walk()
            if status == 0 and len(self.right) >= 60:
                return
            os.kill(pid, signal.SIGCONT)
        sys.exit(f"as it is, it is not walked: {len(self.right)} stacks, {self.right[-1:]}")

    def walk(self):
        done = subprocess.run([self.walk_again, str(self.pid), self.moments.name], capture_output=True, text=True,
                              errors="replace", timeout=60)
        return done.returncode, done.stdout.splitlines()

    def drawn_move(self):
        """A field, and what is said of it: that of another one of the same type, or some bytes from its own."""
        name = self.draw.choice(self.names)
        value = self.tables.get(name)
        others = [other for other in self.tables.entries if "::" in other and other != name and
                  other.split("::")[0] == name.split("::")[0]]
        if others and self.draw.random() < 0.3:
            other = self.draw.choice(sorted(others))
            return name, self.tables.get(other), f"is where {other} is"
        by = self.draw.choice((-2, -1, 1, 2) if name.startswith("frame::") else DISTANCES)
        return name, value + by, f"{by:+d}"

    def one(self):
        name, value, how = self.drawn_move()
        former = self.tables.get(name)
        self.tables.set(name, value)
        try:
            status, lines = self.walk()
        finally:
            self.tables.set(name, former)
        if status == 2:
            return "refused", f"{name} {how}: {lines[-1]}"
        others = [(line, now) for line, now in zip(self.right, lines) if not is_true(now, line)]
        is_right = status == 0 and len(lines) == len(self.right) and len(others) <= DIFFERENT_MAX * len(lines)
        shown = "\n    for {}\n    has {}".format(*others[0]) if others else ""
        return "right" if is_right else "wrong", f"{name} {how}: {len(others)} of {len(self.right)} differ{shown}"


def main():
    pid, what = int(sys.argv[1]), sys.argv[2]
    if what == "move":
        tables, field, to = Tables(pid), sys.argv[3], sys.argv[4]
        if field not in tables.entries:
            print(f"{field} is not exported")
            return 1
        by = tables.get(to) - tables.get(field) if to in tables.entries else int(to)
        tables.set(field, tables.get(field) + by)
        print(by)
        return 0
    if what == "release":
        Tables(pid).set_release(int(sys.argv[3]))
        return 0
    tries, n = Tries(pid, sys.argv[3], int(sys.argv[4])), {"right": 0, "refused": 0, "wrong": 0}
    try:
        for _ in range(int(sys.argv[5])):
            verdict, said = tries.one()
            n[verdict] += 1
            if verdict == "wrong" or os.environ.get("MOVED_FIELDS_ALL"):
                print(verdict, said)
    finally:
        os.kill(pid, signal.SIGCONT)
    print(f"{n['right']} right, {n['refused']} refused, {n['wrong']} wrong")
    return 1 if n["wrong"] > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
