/* What was measured, how, and what is missing. */

const infoWords = {
    started: "Recorded",
    host: "Host",
    os: "System",
    cpu: "CPU",
    "jvm.version": "JVM",
    simulated: "Simulated processor",
    "simulated.model": "its model",
    "jvm.pid": "Process",
    "jvm.archive": "It writes a class archive",
    clock: "Clock of the probes",
    "recording.mode": "Recording",
    "phases.file": "Phases from",
    "instrumented.classes": "Classes instrumented",
    "instrumented.methods": "Methods instrumented",
    "instrument.ms": "Instrumenting took, ms",
    "instrument.longest_ms": "its longest step, ms",
    "failed.classes": "Classes that could not be changed",
    "left.classes": "Classes with native methods, not instrumented",
    "left.late": "Classes not instrumented within the time limit",
    "left.metaspace": "Classes not instrumented for lack of metaspace",
    "left.events": "Classes of JFR events, not instrumented",
    "left.loaders": "Classes whose loader cannot find the probes, not instrumented",
    "left.breakpoints": "Classes with breakpoints of a debugger, not instrumented",
    "kept.breakpoints": "Classes with breakpoints that keep their probes, disabled",
    "unsure.classes": "Classes that failed the bytecode check with probes, not instrumented",
    "unsure.first": "the first of them",
    "refused.classes": "Classes that the JVM refused to change",
    "refused.first": "the first of them",
    "skipped.too_large": "Methods too large",
    "skipped.limits": "Methods beyond limits",
    "skipped.unusual": "Unusual methods, not instrumented",
    offcpu: "Time off the CPU from",
    "process.cpu_ns": "CPU time of the process, by the kernel",
    "quota.cpus": "CPU quota of the container, in CPUs",
    "quota.throttled": "Periods in which the quota stopped the program",
    "quota.throttled_ns": "Time for which the quota stopped the program",
    "machine.stolen_ns": "Steal time: CPU time withheld by the host",
    "probe.read": "Probes read counters",
    "counters.groups": "Groups of counters",
    "counters.kernel": "The kernel\u2019s work in the counters",
    "counters.refused": "Counters refused",
    readings: "Remote counter reads",
    "readings.cpu_ms": "CPU time of those, ms",
    "readings.threads_without": "Threads without counters",
    "lost.no_ring": "Calls lost, no buffer",
    "live.budget": "Budget",
    "live.batches": "Retransformation batches",
    "live.pauses_ms": "Pauses for them, ms",
    "live.longest_pause_ms": "the longest pause, ms",
    "live.samples": "Stack samples",
    "live.probes_ms": "Probes cost, estimated, ms",
    "live.own_cpu_ms": "CPU time of the recorder, ms",
    "live.rewriting_ms": "of it rewriting classes, ms",
    "live.recovery_ms": "Recompilation window, ms",
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
        : key === "process.cpu_ns" || key === "machine.stolen_ns" || key === "quota.throttled_ns"
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
        ["Kernel records lost", about.perf_records_lost === 0 ? "none" : formatCount(about.perf_records_lost)],
        [
            "Accounted for",
            about.accounted_share === undefined
                ? unknown + " (the trace has no CPU time of the process)"
                : percent(about.accounted_share) + " of the process\u2019 CPU time"
        ]
    ];
}

/* Each number of it says how it is known, or why not. */
function costTable() {
    if (data.cost === undefined) return null;
    return html(
        "div",
        {},
        html("h3", {}, "Cost of this recording"),
        plainTable(data.cost, "Cost of this recording", "the last column says why"),
        data.cost.notes.map((note) => html("p", { class: "quiet" }, note))
    );
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
                          ? "measured by the kernel"
                          : event.groups.map((group) => "group " + (group + 1)).join(", ")
                ),
                several ? html("td", { class: "text" }, trace.trace) : null,
                html("td", { class: "text wrap" }, event.why === "" ? "" : event.why)
            )
        )
    );
    if (rows.length === 0) return html("p", { class: "quiet" }, "None was asked for.");
    return scroller(
        "Events",
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
        costTable() ?? "",
        html("h3", {}, "Events"),
        eventTable(),
        html(
            "p",
            { class: "quiet" },
            "\u201c-\u201d is what was not measured, \u201cn/a\u201d what makes no sense in a row" +
                (data.about.groups > 1
                    ? ", \u00b1 half of the 95 % confidence interval"
                    : "") +
                "."
        ),
        html("h3", {}, "Session"),
        list(pairs)
    );
}
