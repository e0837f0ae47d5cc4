/* The page's first lines: whose it is, and in short what it says. */

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
    byId("subtitle").textContent = [
        info.started,
        info["jvm.version"],
        info.host,
        info.simulated ? "simulated: " + info.simulated : info.cpu,
    ]
        .filter(Boolean)
        .join(" \u00b7 ");
}

function shareOf(kind) {
    const row = data.phases.rows.find((other) => other.kind === kind);
    return row === undefined ? 0 : (valueOf(data.phases, row, "self_share") ?? 0);
}

/* Names and shares of the application and the JVM's parts. */
function partsOfTime() {
    const tree = data.tree,
        clock = tree.values.find((value) => value.name === tree.clock);
    if (!isOfSamples) {
        const row = data.parts.rows[0];
        return data.parts.columns.map((column, c) => [column.heading, cellNumber(row.cells[c])]).slice(1);
    }
    const roots = tree.parent.map((parent, i) => [tree.names[tree.name[i]], clock.all[i], parent]).filter(([, , p]) => p < 0);
    const all = roots.reduce((sum, [, ns]) => sum + ns, 0);
    return roots.map(([name, ns]) => [name, ns / all]);
}

/* Where all the time goes. */
function timeSentence() {
    const { about } = data,
        total = data.phases.rows.find((other) => other.kind === "total"),
        time = about.clock === "cpu" ? about.cpu_ns : valueOf(data.phases, total, "self_ns");
    const shares = partsOfTime()
        .filter(([, share]) => share >= 0.01)
        .sort((a, b) => b[1] - a[1]);
    const where = listed(shares.map(([name, share]) => name + " " + percent(share)));
    return html(
        "p",
        {},
        "It ran for ",
        html("b", {}, formatNs(about.duration_ns)),
        ", with ",
        html("b", {}, formatNs(time)),
        about.clock === "cpu"
            ? " of CPU time, on " + (about.cpu_ns / about.duration_ns).toFixed(2) + " CPUs"
            : " of wall time" + (hasLine() && line.is_wall ? ", without what threads waited for work" : " in the threads that ran probes"),
        where.length === 0 ? "" : ": ",
        where,
        "."
    );
}

function labelOf(row) {
    return cellText(row.cells[0]).replace(/ \+$/, "");
}

function hottestSentence() {
    const rows = phases.table.rows
        .filter(isMethodRow)
        .map((row) => ({
            name: labelOf(row),
            share: valueOf(phases.table, row, "self_share") ?? 0,
            isSampled: row.kind !== "phase"
        }))
        .filter(({ share }) => share >= 0.005)
        .sort((a, b) => b.share - a.share)
        .slice(0, 3);
    if (rows.length === 0) return null;
    return html(
        "p",
        {},
        rows.length === 1 ? "The method with most time of its own is " : "The methods with most time of their own are ",
        listed(
            rows.map(({ name, share, isSampled }) =>
                html(
                    "span",
                    {},
                    html("b", { class: "name" }, name),
                    " (" + percent(share) + (isSampled ? ", by samples)" : ")")
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
    const isPartly = data.phases.rows.some(
        (row) => valueOf(data.phases, row, "self_share") >= 0.01 && valueOf(data.phases, row, "cpi") === null
    );
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
        isPartly ? " on the average of what was counted" : " on the average",
        worst === undefined
            ? "; no phase takes more"
            : [
                  ", and most in ",
                  html("b", { class: "name" }, labelOf(worst)),
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
        said.push(percent(about.accounted_share) + " of the process\u2019 CPU time is accounted for");
    if (about.perf_records_lost > 0) said.push("the kernel dropped records of its own: CPU times are estimates");
    if (about.info["recording.mode"] === "all" && about.probe_ns !== null && about.probe_ns > 0.05 * about.cpu_ns)
        said.push(
            "recording all methods took " +
                percent(about.probe_ns / about.cpu_ns) +
                " of the CPU time: a recording of the phases only disturbs less"
        );
    return said.length === 0 ? null : html("p", { class: "warn" }, "Beware: ", said.join("; "), ".");
}

/* The same of a span. */
function spanSentence() {
    const ns = spanEnd() - spanStart(),
        names = new Map(line.parts.map((part) => [part.key, part.name]));
    const shares = [...span.parts]
        .map(([key, part]) => [names.get(key), span.whole > 0 ? part / span.whole : 0])
        .filter(([, share]) => share >= 0.01)
        .sort((a, b) => b[1] - a[1]);
    return html(
        "p",
        {},
        "From ",
        html("b", {}, spanText()),
        ": " + formatNs(span.whole) + (line.is_wall ? " of wall time, in " : " of CPU time, on "),
        (span.whole / ns).toFixed(2) + " " + lineUnit(),
        shares.length === 0 ? "" : ": ",
        listed(shares.map(([name, share]) => name + " " + percent(share))),
        "."
    );
}

/* What costs most, as the text report begins. */
function findingsList() {
    if ((data.findings ?? []).length === 0) return null;
    return html(
        "ul",
        { class: "findings", "aria-label": "Findings" },
        ...data.findings.map(([text, view]) => html("li", {}, text, " ", html("code", {}, "--view " + view)))
    );
}

function drawSummary() {
    if (span.range !== null) {
        readPhases();
        byId("summary").replaceChildren(...[spanSentence(), hottestSentence(), warnings()].filter(Boolean));
        return;
    }
    readPhases();
    byId("summary").replaceChildren(
        ...[findingsList(), timeSentence(), hottestSentence(), cpiSentence(), warnings()].filter(Boolean)
    );
}
