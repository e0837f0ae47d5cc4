"""move_field.py PID FIELD BYTES: changes where the JVM says that a field is ("Symbol::_body", of gHotSpotVMStructs)."""
import re
import struct
import subprocess
import sys


def main():
    pid, field, by = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    with open(f"/proc/{pid}/maps") as maps:
        first = next(line for line in maps if line.rstrip().endswith("/libjvm.so"))
    base, path = int(first.split("-")[0], 16), first.split()[-1]
    exported = subprocess.check_output(["nm", "-D", path], text=True)
    at = {name: base + int(value, 16) for value, name in re.findall(r"(\w+) \w (gHotSpotVMStruct\w*)", exported)}
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:

        def number(address):
            memory.seek(address)
            return struct.unpack("<Q", memory.read(8))[0]

        def text(address):
            memory.seek(address)
            return memory.read(96).split(b"\0")[0].decode() if address != 0 else ""

        entry = "gHotSpotVMStructEntry"
        stride = number(at[entry + "ArrayStride"])
        parts = ("TypeName", "FieldName", "Offset")
        of_type, of_name, of_offset = (number(at[f"{entry}{part}Offset"]) for part in parts)
        row = number(at["gHotSpotVMStructs"])
        while number(row + of_type) != 0:
            if text(number(row + of_type)) + "::" + text(number(row + of_name)) == field:
                value = number(row + of_offset) + by
                memory.seek(row + of_offset)
                memory.write(struct.pack("<Q", value & (2**64 - 1)))
                return 0
            row += stride
    print(f"{field} is not exported")
    return 1


if __name__ == "__main__":
    sys.exit(main())
