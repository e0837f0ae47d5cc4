#!/usr/bin/python3
"""Reads what 'mmprof export' wrote, as strictly as the formats are described, and says what a method has.

    read_exports.py folded|speedscope|pprof FILE METHOD   prints the method's inclusive value, and the sum of all
    read_exports.py chrome FILE METHOD                    prints the number of its slices and their time in us
    read_exports.py samples FILE METHOD                   prints the number of stack samples, and of those in the method
    read_exports.py tops folded|jfr FILE                  prints how many samples each innermost method has: of folded
                                                          stacks of samples, or of what 'jfr print --json' says
    read_exports.py tracks FILE CATEGORY                  prints the names of the tracks that have slices of it
    read_exports.py keys FILE                             prints the keys of a table as JSON, one a line
    read_exports.py metrics FILE                          prints Prometheus' series and their values, one a line

Whatever is wrong ends it with a message.
"""
import gzip
import json
import re
import sys


def must(condition, message):
    if not condition:
        sys.exit("read_exports: " + message)


def inclusive(stacks, method):
    """stacks: (frames, value); a recursive method counts once."""
    return sum(value for frames, value in stacks if method in frames), sum(value for _, value in stacks)


# Folded stacks, as flamegraph.pl reads them: frames parted by ';', the value after the last blank.
def read_folded(path):
    stacks, seen = [], set()
    with open(path, encoding="utf-8", newline="\n") as lines:
        for line in lines:
            must(line.endswith("\n"), "the last line has no end")
            stack, _, value = line[:-1].rpartition(" ")
            must(value.isdigit() and int(value) > 0, "no value: " + line)
            frames = stack.split(";")
            must(all(frames), "an empty frame: " + line)
            must(stack not in seen, "a stack twice: " + line)
            seen.add(stack)
            stacks.append((frames, int(value)))
    return stacks


# https://www.speedscope.app/file-format-schema.json, and what its importer asserts of evented profiles.
def read_speedscope(path):
    with open(path, encoding="utf-8") as file:
        root = json.load(file)
    must(root["$schema"] == "https://www.speedscope.app/file-format-schema.json", "the schema's name is missing")
    must(set(root) <= {"$schema", "shared", "profiles", "name", "exporter", "activeProfileIndex"}, "unknown keys")
    must(set(root["shared"]) == {"frames"}, "unknown keys in shared")
    names = []
    for frame in root["shared"]["frames"]:
        must(set(frame) <= {"name", "file", "line", "col"} and isinstance(frame["name"], str), "a bad frame")
        must(isinstance(frame.get("line", 1), int), "a line that is no number")
        names.append(frame["name"])
    must(root["profiles"] and 0 <= root["activeProfileIndex"] < len(root["profiles"]), "no active profile")
    stacks = []
    for profile in root["profiles"]:
        stacks += read_evented(profile, names)
    return stacks


def read_evented(profile, names):
    keys = {"type", "name", "unit", "startValue", "endValue", "events"}
    must(set(profile) == keys and profile["type"] == "evented", "not an evented profile")
    must(profile["unit"] in ("none", "nanoseconds"), "an unknown unit")
    at, stack, stacks = profile["startValue"], [], []
    for event in profile["events"]:
        must(set(event) == {"type", "frame", "at"}, "unknown keys in an event")
        must(0 <= event["frame"] < len(names), "a frame that is not there")
        must(event["at"] >= at, "time runs backwards")
        if event["at"] > at:
            must(stack, "time passes outside all frames")
            stacks.append(([names[i] for i in stack], event["at"] - at))
        at = event["at"]
        if event["type"] == "O":
            stack.append(event["frame"])
        else:
            must(event["type"] == "C" and stack and stack.pop() == event["frame"], "frames are not nested")
    must(not stack and at == profile["endValue"], "frames are open at the end")
    return stacks


# Protocol buffers: (field, value) of a message; value is a number or bytes.
def varint(data, i):
    value = shift = 0
    while True:
        must(i < len(data) and shift < 70, "a number is cut off")
        value |= (data[i] & 0x7F) << shift
        shift += 7
        i += 1
        if data[i - 1] < 0x80:
            return value, i


def fields(data):
    i = 0
    while i < len(data):
        key, i = varint(data, i)
        if key & 7 == 0:
            value, i = varint(data, i)
        elif key & 7 == 1:
            must(i + 8 <= len(data), "a number is cut off")
            value, i = int.from_bytes(data[i:i + 8], "little"), i + 8
        else:
            must(key & 7 == 2, "an unknown wire type")
            n, i = varint(data, i)
            must(i + n <= len(data), "a field is cut off")
            value, i = data[i:i + n], i + n
        yield key >> 3, value


def numbers(data):
    i, result = 0, []
    while i < len(data):
        value, i = varint(data, i)
        result.append(value)
    return result


# https://github.com/google/pprof/blob/main/proto/profile.proto, and what its CheckValid() asks for.
def read_pprof(path):
    with gzip.open(path) as file:
        profile = list(fields(file.read()))
    strings = [value.decode("utf-8") for field, value in profile if field == 6]
    must(strings[0] == "" and len(set(strings)) == len(strings), "the string table is not one")
    functions, locations = {}, {}
    for value in (value for field, value in profile if field == 5):
        function = dict(fields(value))
        must(function[1] not in functions, "a function's id twice")
        functions[function[1]] = strings[function[2]]
        must(strings[function[3]] and function.get(4, 0) < len(strings), "a function without a system name")
    for value in (value for field, value in profile if field == 4):
        location = dict(fields(value))
        must(location[1] > 0 and location[1] not in locations, "a location's id twice")
        locations[location[1]] = functions[dict(fields(location[4]))[1]]
    types = [strings[dict(fields(value))[1]] for field, value in profile if field == 1]
    default = strings[dict(profile)[14]]
    stacks = []
    for value in (value for field, value in profile if field == 2):
        sample = dict(fields(value))
        values = numbers(sample[2])
        must(len(values) == len(types), "a sample with too few values")
        stacks.append(([locations[i] for i in numbers(sample[1])], values[types.index(default)]))
    return stacks


# The profile of CPU time in opentelemetry.proto.profiles.v1development.ProfilesData.
def read_otlp(path):
    with open(path, "rb") as file:
        data = dict(fields(file.read()))
    tables = {}
    for field, value in fields(data[2]):
        tables.setdefault(field, []).append(value)
    strings = [value.decode("utf-8") for value in tables[5]]
    must(all(tables[i][0] == b"" for i in range(1, 8)), "the first entry of a table is not empty")
    must(len(set(strings)) == len(strings), "the string table is not one")
    functions = [strings[dict(fields(value)).get(1, 0)] for value in tables[3]]
    lines = [dict(fields(dict(fields(value)).get(3, b""))) for value in tables[2]]
    locations = [functions[line.get(1, 0)] for line in lines]
    scope = [value for field, value in fields(data[1]) if field == 2][0]
    for profile in (list(fields(value)) for field, value in fields(scope) if field == 2):
        if strings[dict(fields(dict(profile)[1]))[1]] != "cpu":
            continue
        samples = [dict(fields(value)) for field, value in profile if field == 2]
        stacks = [numbers(dict(fields(tables[7][sample[1]]))[1]) for sample in samples]
        must(all(0 < i < len(locations) for stack in stacks for i in stack), "a location is none")
        return [([locations[i] for i in stack], numbers(sample[4])[0]) for stack, sample in zip(stacks, samples)]
    must(False, "there is no CPU time")


# V8's CPU profile of a thread: its stacks, root first, and the us until the next one.
def read_v8(events):
    begin, chunk = events
    must(begin["name"] == "Profile" and begin["args"]["data"] == {"startTime": 0}, "a profile without a beginning")
    must(chunk["name"] == "ProfileChunk" and chunk["id"] == begin["id"], "a profile of two threads")
    profile, deltas = chunk["args"]["data"]["cpuProfile"], chunk["args"]["data"]["timeDeltas"]
    stacks = {}
    for node in profile["nodes"]:
        must(node["id"] not in stacks and node.get("parent", 0) in [*stacks, 0], "a node twice, or before its parent")
        stacks[node["id"]] = stacks.get(node.get("parent"), []) + [node["callFrame"]["functionName"]]
    must(len(deltas) == len(profile["samples"]) and min(deltas) >= 0, "samples without their time")
    must([s for s, names in stacks.items() if len(names) == 1] == [1] and stacks[1] == ["(root)"], "not one root")
    return [(stacks[sample][1:], us) for sample, us in zip(profile["samples"], deltas[1:] + [0])]


# By track, what samples saw.
def read_samples(path):
    with open(path, encoding="utf-8") as file:
        root = json.load(file)
    events, threads = [e for e in root["traceEvents"] if e["ph"] == "P"], {}
    for event in events:
        threads.setdefault(event["tid"], []).append(event)
    found = {tid: read_v8(of) for tid, of in threads.items()}
    n = sum(stack != ["(idle)"] for stacks in found.values() for stack, _ in stacks)
    must(root["otherData"]["samples"] == str(n), "the number of samples is another")
    return found


# Trace Event Format, the object form: complete events, metadata, samples.
def read_chrome(path):
    with open(path, encoding="utf-8") as file:
        root = json.load(file)
    must(root["displayTimeUnit"] == "ns", "no unit to show")
    tracks, slices = {}, []
    for event in root["traceEvents"]:
        must(event["pid"] == 1 and isinstance(event["tid"], int), "an event of nobody")
        if event["ph"] == "M":
            must(event["name"] in ("process_name", "thread_name"), "unknown metadata")
            if event["name"] == "thread_name":
                must(event["tid"] not in tracks, "a track has two names")
                tracks[event["tid"]] = event["args"]["name"]
        elif event["ph"] == "P":
            must(event["tid"] in tracks, "samples without a track")
        else:
            must(event["ph"] == "X" and event["ts"] >= 0 and event["dur"] >= 0, "a bad slice")
            must(event["tid"] in tracks, "a track without a name")
            slices.append(event)
    must(root["otherData"]["slices"] == str(len(slices)), "the number of slices is another")
    check_nesting(slices)
    return tracks, slices


# Slices of a track are nested; times are rounded to a nanosecond.
def check_nesting(slices):
    ends = {}
    for event in sorted(slices, key=lambda e: (e["tid"], e["ts"], -e["dur"])):
        stack = ends.setdefault(event["tid"], [])
        while stack and stack[-1] <= event["ts"] + 0.002:
            stack.pop()
        end = event["ts"] + event["dur"]
        must(not stack or end <= stack[-1] + 0.002, "slices of a track overlap: %r" % event)
        stack.append(end)


def keys_of(path):
    with open(path, encoding="utf-8") as file:
        root = json.load(file)
    must(root["schema"] == "mmprof.phases" and root["schema_version"] == 3, "no schema of version 3")
    columns = [column["key"] for column in root["columns"]]
    units = {"text": str, "count": (int, float), "share": (int, float), "ns": (int, float), "ratio": (int, float),
             "rate": (int, float)}
    for row in root["rows"]:
        must(list(row) == ["kind"] + columns, "a row has other keys than the columns say")
        for column in root["columns"]:
            value = row[column["key"]]
            must(value is None or isinstance(value, units[column["unit"]]), "not of its unit: %r" % column)
    return list(root) + list(root["about"]) + columns


# By innermost method, the samples; all that are in no Java method are one row.
def tops_of(what, path):
    tops = {}
    if what == "folded":
        for frames, value in read_folded(path):
            top = re.sub(r"\(.*| \[sampled\]$", "", frames[-1]) if len(frames) > 1 else "none"
            tops[top] = tops.get(top, 0) + value
        return tops
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["recording"]["events"]
    for event in events:
        must(event["type"] == "jdk.ExecutionSample" and event["values"]["sampledThread"]["osThreadId"] > 0, "no sample")
        method = event["values"]["stackTrace"]["frames"][0]["method"]
        name = method["type"]["name"].replace("/", ".") + "." + method["name"]
        name = "none" if name.startswith("JVM.") else name
        tops[name] = tops.get(name, 0) + 1
    return tops


# Prometheus' text format 0.0.4, and what 'promtool check metrics' says of names.
def read_metrics(path):
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    must(text.endswith("\n") and "\r" not in text, "the last line has no end")
    kinds, helped, series, current = {}, set(), {}, None
    for line in text[:-1].split("\n"):
        comment = re.fullmatch(r"# (HELP|TYPE) ([a-z_:][a-z0-9_:]*) (.+)", line)
        if comment and comment[1] == "HELP":
            must(comment[2] not in helped, "a help twice: " + line)
            helped.add(comment[2])
        elif comment:
            current = comment[2]
            must(current not in kinds and current in helped and comment[3] in ("counter", "gauge"), "bad type: " + line)
            must((comment[3] == "counter") == current.endswith("_total"), "counters alone end with _total: " + line)
            kinds[current] = comment[3]
        else:
            label = r'[a-z_][a-z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"'
            sample = re.fullmatch(r"([a-z_:][a-z0-9_:]*)(\{%s(?:,%s)*\})? (\S+)" % (label, label), line)
            must(sample and sample[1] == current, "no sample of the metric above: " + line)
            must((sample[1], sample[2]) not in series, "a series twice: " + line)
            must(float(sample[3]) >= 0, "no value: " + line)
            series[sample[1], sample[2]] = sample[3]
    return series


def main():
    what, path = sys.argv[1:3]
    if what == "tops":
        for method, n in sorted(tops_of(path, sys.argv[3]).items()):
            print(n, method)
    elif what == "keys":
        print("\n".join(keys_of(path)))
    elif what == "metrics":
        print("\n".join(name + (labels or "") + " " + value for (name, labels), value in read_metrics(path).items()))
    elif what == "tracks":
        tracks, slices = read_chrome(path)
        print("\n".join(sorted({tracks[e["tid"]] for e in slices if e["cat"] == sys.argv[3]})))
    elif what == "samples":
        stacks = [stack for of in read_samples(path).values() for stack, _ in of if stack != ["(idle)"]]
        print(len(stacks), sum(sys.argv[3] in stack for stack in stacks))
    elif what == "chrome":
        times = [e["dur"] for e in read_chrome(path)[1] if e["name"] == sys.argv[3]]
        print(len(times), round(sum(times)))
    else:
        read = {"folded": read_folded, "speedscope": read_speedscope, "pprof": read_pprof,
                "otlp": read_otlp}[what]
        print(*inclusive(read(path), sys.argv[3]))


main()
