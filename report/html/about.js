/* What was measured, how, and what is missing; and the page's first lines. */

const infoWords = {
    started: "Recorded",
    host: "Host",
    os: "System",
    cpu: "CPU",
    "jvm.version": "JVM",
    "jvm.pid": "Process",
    clock: "Clock of the probes",
    "recording.mode": "Recording",
    "phases.file": "Phases from",
    "instrumented.classes": "Classes instrumented",
    "instrumented.methods": "Methods instrumented",
    "instrument.ms": "Instrumenting took, ms",
    "instrument.longest_ms": "its longest step, ms",
    "failed.classes": "Classes that could not be changed",
    "skipped.too_large": "Methods too large",
    "skipped.limits": "Methods beyond limits",
    "skipped.unusual": "Methods left alone",
    offcpu: "Time off the CPU from",
    "process.cpu_ns": "CPU time of the process, by the kernel",
    "probe.read": "Probes read counters",
    "counters.groups": "Groups of counters",
    "counters.kernel": "The kernel\u2019s work in the counters",
    "counters.refused": "Counters refused",
    readings: "Readings of counters by the recorder",
    "readings.cpu_ms": "CPU time of those, ms",
    "readings.threads_without": "Threads without counters",
    "lost.no_ring": "Calls lost, no buffer",
    "live.budget": "Budget",
    "live.batches": "Batches of classes changed",
    "live.pauses_ms": "Program stopped for them, ms",
    "live.longest_pause_ms": "the longest stop, ms",
    "live.samples": "Stack samples",
    "live.probes_ms": "Probes cost, estimated, ms",
    "live.own_cpu_ms": "CPU time of the recorder, ms",
    "live.recovery_ms": "JIT busy after the batches, ms",
    "mmprof.version": "mmprof"
};

const modeWords = {
    all: "first pass: all methods worth it",
    phases: "selected phases only",
    live: "live: methods chosen meanwhile"
};

function infoText(key, text) {
    return key === "recording.mode"
        ? (modeWords[text] ?? text)
        : key === "process.cpu_ns"
          ? formatNs(Number(text))
          : text;
}

function list(pairs) {
    return html(
        "dl",
        { class: "list" },
        pairs.flatMap(([term, words]) => [html("dt", {}, term), html("dd", {}, words)])
    );
}

function recordingPairs() {
    const about = data.about,
        all = about.calls + about.calls_lost;
    const cost =
        about.probe_ns === null
            ? unknown + " (the trace has no calibrated cost of a probe)"
            : formatNs(about.probe_ns) +
              " of CPU time, " +
              percent(about.probe_ns / about.cpu_ns) +
              "; " +
              formatNs(about.pair_ns) +
              " a call; taken away from the figures above";
    return [
        ["Trace", about.trace],
        [
            "Time",
            formatNs(about.duration_ns) +
                ", " +
                formatNs(about.cpu_ns) +
                (about.clock === "cpu" ? " of CPU time" : " of the threads that ran probes")
        ],
        ["Calls", formatCount(about.calls) + " in " + formatCount(about.records) + " records"],
        [
            "Calls lost",
            about.calls_lost === 0 ? "none" : formatCount(about.calls_lost) + ", " + percent(about.calls_lost / all)
        ],
        ["Kernel records lost", about.kernel_records_lost === 0 ? "none" : formatCount(about.kernel_records_lost)],
        ["Probes cost", cost],
        [
            "Accounted for",
            about.accounted_share === undefined
                ? unknown + " (the trace has no CPU time of the process)"
                : percent(about.accounted_share) + " of the process\u2019 CPU time"
        ]
    ];
}

function eventTable() {
    const several = data.about.events.length > 1;
    const rows = data.about.events.flatMap((trace) =>
        trace.events.map((event) =>
            html(
                "tr",
                {},
                html("th", { scope: "row" }, html("span", { class: "name" }, event.name)),
                html("td", { class: "text" }, event.heading === event.name ? "" : event.heading),
                html(
                    "td",
                    { class: "text" },
                    event.why !== ""
                        ? "-"
                        : event.groups.length === 0
                          ? "told by the kernel"
                          : event.groups.map((group) => "group " + (group + 1)).join(", ")
                ),
                several ? html("td", { class: "text" }, trace.trace) : null,
                html("td", { class: "text wrap" }, event.why === "" ? "" : event.why)
            )
        )
    );
    if (rows.length === 0) return html("p", { class: "quiet" }, "None was asked for.");
    return html(
        "div",
        { class: "scroll" },
        html(
            "table",
            { id: "event-table" },
            html(
                "thead",
                {},
                html(
                    "tr",
                    {},
                    ["Event", "Column", "Measured"]
                        .concat(several ? ["In"] : [], ["Why not"])
                        .map((heading) => html("th", { scope: "col", class: "text" }, heading))
                )
            ),
            html("tbody", {}, rows)
        )
    );
}

function drawAbout() {
    const info = data.about.info,
        notes = data.phases.notes;
    const pairs = Object.keys(infoWords)
        .filter((key) => info[key] !== undefined)
        .map((key) => [infoWords[key], infoText(key, info[key])]);
    byId("about-body").replaceChildren(
        html("h3", {}, "Notes"),
        notes.length === 0
            ? html("p", { class: "quiet" }, "None: nothing was lost, nothing is missing.")
            : html(
                  "ul",
                  { class: "notes" },
                  notes.map((note) => html("li", {}, note))
              ),
        html("h3", {}, "Recording"),
        list(recordingPairs()),
        html("h3", {}, "Events"),
        eventTable(),
        html(
            "p",
            { class: "quiet" },
            "\u201c-\u201d is what was not measured, \u201cn/a\u201d what makes no sense in a row" +
                (data.about.groups > 1
                    ? ", \u00b1 half of an interval that has the true value in 95 of 100 cases"
                    : "") +
                "."
        ),
        html("h3", {}, "Session"),
        list(pairs)
    );
}

/* ---- in short ---- */

/* The main class or the jar of a java command line; else its first word. */
function programName(command) {
    const words = command.split(/\s+/),
        isValued = /^(-cp|-classpath|--class-path|-p|--module-path|--add-(opens|exports|reads|modules))$/;
    for (let i = 1; i < words.length; i++) {
        if (words[i] === "-jar" || words[i] === "-m" || words[i] === "--module")
            return (words[i + 1] ?? "").replace(/.*\//, "");
        if (isValued.test(words[i])) i++;
        else if (!words[i].startsWith("-")) return words[i];
    }
    return words[0] || "mmprof report";
}

function drawHead() {
    const { about } = data,
        { info } = about,
        command = info["jvm.command"] ?? "";
    const name = command === "" ? about.trace.replace(/.*\//, "") : programName(command);
    document.title = name + " \u2013 mmprof";
    byId("title").textContent = name;
    byId("command").textContent = command;
    byId("subtitle").textContent = [info.started, info["jvm.version"], info.host, info.cpu]
        .filter(Boolean)
        .join(" \u00b7 ");
}

function shareOf(kind) {
    const row = data.phases.rows.find((other) => other.kind === kind);
    return row === undefined ? 0 : (valueOf(data.phases, row, "self_share") ?? 0);
}

/* Where all the time goes. */
function timeSentence() {
    const { about } = data,
        row = data.parts.rows[0];
    const shares = data.parts.columns
        .map((column, c) => [column.heading, cellNumber(row.cells[c])])
        .slice(1)
        .filter(([, share]) => share >= 0.01)
        .sort((a, b) => b[1] - a[1]);
    const where = listed(shares.map(([name, share]) => name + " " + percent(share)));
    return html(
        "p",
        {},
        "It ran for ",
        html("b", {}, formatNs(about.duration_ns)),
        ", with ",
        html("b", {}, formatNs(about.cpu_ns)),
        about.clock === "cpu"
            ? " of CPU time, on " + (about.cpu_ns / about.duration_ns).toFixed(2) + " CPUs: "
            : " of wall time in the threads that ran probes: ",
        where,
        "."
    );
}

function hottestSentence() {
    const rows = data.phases.rows
        .filter((row) => row.kind === "phase" && valueOf(data.phases, row, "self_share") >= 0.005)
        .sort((a, b) => valueOf(data.phases, b, "self_share") - valueOf(data.phases, a, "self_share"))
        .slice(0, 3);
    if (rows.length === 0) return null;
    return html(
        "p",
        {},
        "Of the phases, most time of its own has ",
        then(
            rows.map((row) =>
                html(
                    "span",
                    {},
                    html("b", { class: "name" }, textOf(data.phases, row, "label").replace(/ \+$/, "")),
                    " (" + percent(valueOf(data.phases, row, "self_share")) + ")"
                )
            )
        ),
        "."
    );
}

function cpiSentence() {
    const total = data.phases.rows.find((row) => row.kind === "total"),
        average = valueOf(data.phases, total, "cpi");
    if (average === null) return null;
    const worst = data.phases.rows
        .filter(
            (row) =>
                row.kind === "phase" &&
                valueOf(data.phases, row, "time_share") >= 0.01 &&
                valueOf(data.phases, row, "cpi") > average
        )
        .sort((a, b) => valueOf(data.phases, b, "cpi") - valueOf(data.phases, a, "cpi"))[0];
    return html(
        "p",
        {},
        "An instruction takes ",
        html("b", {}, formatRatio(average) + " cycles"),
        " on the average",
        worst === undefined
            ? "; no phase takes more"
            : [
                  ", and most in ",
                  html("b", { class: "name" }, textOf(data.phases, worst, "label").replace(/ \+$/, "")),
                  " (" + formatRatio(valueOf(data.phases, worst, "cpi")) + ")"
              ],
        "."
    );
}

/* What to know before believing a figure. */
function warnings() {
    const { about } = data,
        said = [];
    if (about.calls_lost > 0.001 * (about.calls + about.calls_lost))
        said.push(percent(about.calls_lost / (about.calls + about.calls_lost)) + " of the calls were not recorded");
    if (about.accounted_share !== undefined && Math.abs(about.accounted_share - 1) > 0.05)
        said.push("only " + percent(about.accounted_share) + " of the process\u2019 CPU time is accounted for");
    if (about.kernel_records_lost > 0) said.push("the kernel dropped records of its own: CPU times are estimates");
    if (about.info["recording.mode"] === "all" && about.probe_ns !== null && about.probe_ns > 0.05 * about.cpu_ns)
        said.push(
            "recording all methods took " +
                percent(about.probe_ns / about.cpu_ns) +
                " of the CPU time: a recording of the phases only disturbs less"
        );
    return said.length === 0 ? null : html("p", { class: "warn" }, "Beware: ", said.join("; "), ".");
}

function drawSummary() {
    byId("summary").replaceChildren(
        ...[timeSentence(), hottestSentence(), cpiSentence(), warnings()].filter(Boolean)
    );
}
