/* What happened when: CPUs, CPI or misses, regions, and the phases as a carpet, over one axis of time. */

const line = data.timeline;
const lineView = { step: 0, rate: 0, redraw: () => {}, mark: () => {} };

const carpetShades = 16,
    regionColours = 7,
    regionRowsAtFirst = 8;

const lineLeft = 50,
    lineRight = 12;

function hasLine() {
    return line !== undefined && line !== null && line.why === undefined;
}

/* When a step begins, as a share of all the time. */
function stepAt(step) {
    return Math.min(1, (step * line.step_ns) / line.end_ns);
}

function lineX(width) {
    return (step) => lineLeft + stepAt(step) * (width - lineLeft - lineRight);
}

function regionName(number) {
    const region = line.regions.find((r) => r.number === number);
    return region === undefined || number === 0 ? "idle" : region.is_gc ? "GC" : String(number);
}

function regionColour(number) {
    const at = regionsByTime().findIndex((region) => region.number === number);
    if (at < 0) return "var(--wash)";
    if (regionsByTime()[at].is_gc) return partColour("gc");
    return at < regionColours ? "var(--region-" + at + ")" : "var(--rule)";
}

/* Those that have steps, the longest first; the collector's last, for it has its own colour. */
function regionsByTime() {
    return line.regions
        .filter((region) => region.n_steps > 0 && region.number > 0)
        .sort((a, b) => a.is_gc - b.is_gc || b.n_steps - a.n_steps);
}

/* What can be drawn over time: rates of the counters, and what needs none. */
function curves() {
    return line.rates.concat(line.loads);
}

/* ---- the charts, from top to bottom ---- */

function yAxis(chart, width, top, y, marks, label, format) {
    for (const mark of marks)
        chart.append(
            svg("line", { class: "rule", x1: lineLeft, x2: width - lineRight, y1: y(mark), y2: y(mark) }),
            svg("text", { class: "quiet", x: lineLeft - 6, y: y(mark) + 4, "text-anchor": "end" }, format(mark))
        );
    chart.append(svg("text", { class: "quiet", x: lineLeft, y: top - 8 }, label));
}

/* What the time line counts: the wall clock's threads wait, too. */
function lineUnit() {
    return line.is_wall ? "threads" : "CPUs";
}

/* Bands of the first chart, from the bottom up: of threads that wait, too, those that run have a band of their own. */
function bands() {
    return line.parts.flatMap((part) => {
        if (part.running === undefined) return [part];
        const running = part.cpus.map((threads, i) => Math.min(threads, part.running[i]));
        return [
            { ...part, cpus: running },
            { key: "waiting", name: part.name + ", waiting", cpus: part.cpus.map((threads, i) => threads - running[i]) }
        ];
    });
}

/* The time on CPUs, part upon part; on the wall clock that of all threads, but for those that wait for work. */
function drawCpus(chart, width, top, height) {
    const x = lineX(width),
        sums = new Array(line.steps).fill(0);
    const parts = bands();
    for (const part of parts)
        part.cpus.forEach((cpus, i) => {
            sums[i] += cpus;
        });
    /* A whole number of CPUs; a thread's last moments may be charged to the next step. */
    const marks = roundSteps(Math.max(1, Math.round(largest(sums))), 4);
    const highest = Math.max(marks[marks.length - 1], largest(sums)),
        y = (v) => top + height * (1 - v / (highest || 1));
    yAxis(chart, width, top, y, marks, line.is_wall ? "threads that run or wait" : "CPUs in use", (mark) => String(Number(mark.toPrecision(3))));
    const base = new Array(line.steps).fill(0);
    for (const part of parts) {
        const upper = [],
            lower = [];
        part.cpus.forEach((cpus, i) => {
            lower.unshift(
                x(i + 1).toFixed(1) + "," + y(base[i]).toFixed(1),
                x(i).toFixed(1) + "," + y(base[i]).toFixed(1)
            );
            base[i] += cpus;
            upper.push(
                x(i).toFixed(1) + "," + y(base[i]).toFixed(1),
                x(i + 1).toFixed(1) + "," + y(base[i]).toFixed(1)
            );
        });
        /* The lower edge runs back: each step's right end first. */
        chart.append(
            svg("polygon", { points: upper.concat(lower).join(" "), style: { fill: partColour(part.key) } })
        );
    }
    return top + height;
}

/* A rate in steps; gaps where it was not measured. */
function ratePath(values, x, y) {
    let path = "",
        isDown = false;
    values.forEach((value, i) => {
        if (value === null) {
            isDown = false;
            return;
        }
        path +=
            (isDown ? "V" + y(value).toFixed(1) : "M" + x(i).toFixed(1) + " " + y(value).toFixed(1)) +
            "H" +
            x(i + 1).toFixed(1);
        isDown = true;
    });
    return path;
}

function drawRate(chart, width, top, height) {
    const rate = curves()[lineView.rate],
        x = lineX(width);
    const values = rate.parts.flatMap((part) => part.values).filter((value) => value !== null);
    /* A step of the machine's noise must not flatten all others. */
    const sorted = values.slice().sort((a, b) => a - b),
        high = sorted[Math.floor(sorted.length * 0.995)] || 0;
    const marks = roundSteps(high, 4),
        highest = Math.max(high, marks[marks.length - 1]) || 1;
    const y = (v) => top + height * (1 - Math.min(1.05, v / highest));
    yAxis(chart, width, top, y, marks, rate.name + (rate.unit === "" ? "" : ", " + rate.unit), (mark) =>
        String(Number(mark.toPrecision(3)))
    );
    for (const part of rate.parts)
        chart.append(
            svg("path", {
                class: "line",
                d: ratePath(part.values, x, y),
                style: { stroke: partColour(part.key), "stroke-width": part.key === "application" ? "1.7" : "1.2" }
            })
        );
    return top + height;
}

/* Runs of steps with the same value: from start to before end. */
function runsOf(values) {
    const runs = [];
    values.forEach((value, i) => {
        const last = runs[runs.length - 1];
        if (last !== undefined && last.value === value) last.end = i + 1;
        else runs.push({ value, start: i, end: i + 1 });
    });
    return runs;
}

function drawRegions(chart, width, top) {
    const x = lineX(width),
        height = 18,
        gc = line.parts.find((part) => part.key === "gc");
    chart.append(svg("text", { class: "quiet", x: lineLeft - 6, y: top + 13, "text-anchor": "end" }, "region"));
    for (const run of runsOf(line.of_step)) {
        const w = x(run.end) - x(run.start);
        chart.append(
            svg(
                "rect",
                {
                    x: x(run.start),
                    y: top,
                    width: Math.max(0.5, w),
                    height,
                    style: { fill: regionColour(run.value) }
                },
                svg("title", {}, "region " + regionName(run.value))
            )
        );
        if (w > 16 && run.value > 0)
            chart.append(
                svg(
                    "text",
                    {
                        x: x(run.start) + w / 2,
                        y: top + 13,
                        "text-anchor": "middle",
                        style: { fill: "var(--on-region)", "font-size": "11px" }
                    },
                    regionName(run.value)
                )
            );
    }
    /* The serial collector has no threads of its own. */
    const hasGc = gc !== undefined || line.collections.length > 0;
    if (hasGc) drawCollections(chart, width, top + height, gc);
    if (line.stops.length > 0) drawStops(chart, width, top + height + (hasGc ? 14 : 0));
    return top + height + (hasGc ? 14 : 0) + (line.stops.length > 0 ? 14 : 0);
}

/* A method without probes is marked. */
function lineLabel(row) {
    return row.label + (row.is_sampled ? " [sampled]" : "");
}

/* Each phase's own time, as shades. */
function drawCarpet(chart, width, top) {
    const x = lineX(width),
        height = 12,
        pitch = height + 15; /* a row's name stands above it: no text is over the shades */
    const highest = Math.max(0.01, largest(line.rows.flatMap((row) => row.cpus)));
    const words =
        "own time of phases, up to " +
        highest.toFixed(2) +
        " " + lineUnit() +
        (line.is_wall
            ? ", by stack samples"
            : line.rows.some((row) => row.is_sampled)
              ? "; [sampled]: as stack samples divide the time"
              : "");
    chart.append(
        svg(
            "text",
            { class: "quiet", x: lineLeft, y: top - 5 },
            svg("title", {}, words),
            cut(words, width - lineLeft - lineRight)
        )
    );
    line.rows.forEach((row, r) => {
        const y = top + r * pitch + 14;
        chart.append(
            svg("rect", {
                x: lineLeft,
                y,
                width: width - lineLeft - lineRight,
                height,
                style: { fill: "var(--wash)" }
            })
        );
        for (const run of runsOf(row.cpus.map((cpus) => Math.round(carpetShades * Math.sqrt(cpus / highest)))))
            if (run.value > 0)
                chart.append(
                    svg("rect", {
                        x: x(run.start).toFixed(2),
                        y,
                        width: (x(run.end) - x(run.start) + 0.2).toFixed(2),
                        height,
                        style: { fill: shade(run.value / carpetShades) }
                    })
                );
        chart.append(
            svg(
                "text",
                { x: lineLeft, y: y - 3, class: "name", style: { "font-size": "11px" } },
                svg("title", {}, lineLabel(row)),
                cut(lineLabel(row), width - lineLeft - lineRight)
            )
        );
    });
    return top + line.rows.length * pitch;
}

function drawTimeAxis(chart, width, y) {
    const seconds = line.end_ns / 1e9,
        scale = seconds >= 1 ? [1, "s"] : seconds >= 1e-3 ? [1e3, "ms"] : [1e6, "\u00b5s"];
    const end = seconds * scale[0],
        marks = roundSteps(end, Math.max(3, width / 110));
    for (const mark of marks.filter((m) => m <= end)) {
        const x = lineLeft + (mark / end) * (width - lineLeft - lineRight);
        chart.append(
            svg("line", { class: "axis", x1: x, x2: x, y1: y, y2: y + 4 }),
            svg(
                "text",
                { class: "quiet", x, y: y + 16, "text-anchor": "middle" },
                Number(mark.toPrecision(6)) + (mark === 0 ? "" : " " + scale[1])
            )
        );
    }
    chart.append(svg("line", { class: "axis", x1: lineLeft, x2: width - lineRight, y1: y, y2: y }));
    return y + 22;
}

/* ---- the whole ---- */

function sayStep() {
    const i = lineView.step,
        from = i * line.step_ns,
        to = Math.min(line.end_ns, from + line.step_ns);
    const busy = bands()
        .filter((part) => part.cpus[i] > 0.005)
        .map((part) => part.name + " " + part.cpus[i].toFixed(2));
    const rates = curves()
        .map((curve) => [curve.name, curve.parts.find((part) => part.key === "application")])
        .filter(([, part]) => part !== undefined)
        .map(([name, part]) => name + " " + (part.values[i] === null ? unknown : part.values[i].toFixed(3)));
    const top = line.rows
        .filter((row) => row.cpus[i] > 0.005)
        .sort((a, b) => b.cpus[i] - a.cpus[i])
        .slice(0, 3)
        .map((row) => lineLabel(row) + " " + row.cpus[i].toFixed(2));
    byId("line-readout").replaceChildren(
        html("b", {}, formatNs(from), " to ", formatNs(to)),
        ", region " + regionName(line.of_step[i]) + ". " + (line.is_wall ? "Threads: " : "CPUs: ") + (busy.join(", ") || "none") + ". ",
        rates.length === 0 ? "" : "Application: " + rates.join(", ") + ". ",
        top.length === 0 ? "" : "Own time: " + top.join(", ") + "."
    );
}

function drawLine(width) {
    const chart = svg("svg", {
        tabindex: 0,
        role: "slider",
        id: "line-chart",
        "aria-valuemin": 0,
        "aria-valuemax": line.steps - 1,
        "aria-label":
            "Time line; the arrow keys move through its steps" +
            (canSelectSpan() ? ", with Shift they select a span, Escape selects all" : "")
    });
    let y = drawCpus(chart, width, 24, 120);
    if (curves().length > 0) y = drawRate(chart, width, y + 34, 110);
    y = drawRegions(chart, width, y + 14);
    if (line.rows.length > 0) y = drawCarpet(chart, width, y + 26);
    y = drawTimeAxis(chart, width, y + 6);
    const cursor = svg("line", { class: "cursor", y1: 24, y2: y - 22 });
    chart.append(cursor);
    chart.setAttribute("viewBox", "0 0 " + width + " " + y);
    const x = lineX(width);
    const go = (step) => {
        lineView.step = Math.min(line.steps - 1, Math.max(0, step));
        const at = (x(lineView.step) + x(lineView.step + 1)) / 2;
        cursor.setAttribute("x1", at);
        cursor.setAttribute("x2", at);
        sayStep();
        chart.setAttribute("aria-valuenow", lineView.step);
        chart.setAttribute("aria-valuetext", byId("line-readout").textContent);
    };
    const stepOf = (event) => {
        const box = chart.getBoundingClientRect(),
            at = ((event.clientX - box.left) * width) / box.width;
        const step = Math.floor((((at - lineLeft) / (width - lineLeft - lineRight)) * line.end_ns) / line.step_ns);
        return Math.min(line.steps - 1, Math.max(0, step));
    };
    chart.addEventListener("pointermove", (event) => go(stepOf(event)));
    letSelect(chart, { x, height: y - 22, stepOf, go });
    chart.addEventListener("keydown", (event) => {
        if (event.shiftKey) return;
        const far = Math.max(1, Math.round(line.steps / 20));
        const to = {
            ArrowLeft: lineView.step - 1,
            ArrowRight: lineView.step + 1,
            PageUp: lineView.step - far,
            PageDown: lineView.step + far,
            Home: 0,
            End: line.steps - 1
        }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        go(to);
    });
    go(lineView.step);
    return chart;
}

function rateControls() {
    if (curves().length < 2) return null;
    return html(
        "div",
        { class: "controls" },
        html(
            "label",
            {},
            "Show",
            html(
                "select",
                {
                    id: "line-rate",
                    onchange: (event) => {
                        lineView.rate = Number(event.target.value);
                        lineView.redraw();
                    }
                },
                curves().map((rate, i) => html("option", { value: i }, rate.name))
            )
        )
    );
}

/* Of a page of the wall clock: what its time line is of. */
function lineClock() {
    if (data.tree.clock !== "wall") return "";
    return line.is_wall
        ? " Threads run or wait; threads that wait for work are left out. Samples show when they did."
        : " It shows CPU time, and no span can be selected: this trace has no samples, which would show when calls waited.";
}

function drawTimeline() {
    const lead = byId("timeline-lead"),
        body = byId("timeline-body");
    if (line === undefined) {
        byId("timeline").remove();
        document.querySelector("nav a[href='#timeline']").remove();
        return;
    }
    if (!hasLine()) {
        lead.textContent = "Not shown: " + (line?.why ?? "the trace has no time line") + ".";
        return;
    }
    lead.textContent =
        "Steps of " +
        formatNs(line.step_ns) +
        ". A region is a kind of time in which the same methods " +
        "ran alike; it may come again. " +
        (line.rates.length === 0
            ? "CPI over time was not measured: " + (whyOf({ key: "cpi" }) || "no such events were asked for") + "."
            : "") +
        (line.collections.length > 0 ? " Marks in the row \u201cGC\u201d: single collections; paler: its threads ran." : "") +
        lineClock() +
        (canSelectSpan() ? " Drag over the time line, or hold Shift and press the arrow keys, to select a span: the tables and the flame graph are of that then." : "") +
        (line.stops.length > 0 ? " Marks in the row \u201cmmprof\u201d: it stopped the program to change classes." : "");
    const chart = html("figure", {});
    const parts = bands().filter((part) => part.cpus.some((cpus) => cpus > 0));
    body.replaceChildren(
        ...[
            rateControls(),
            html(
                "ul",
                { class: "legend" },
                parts.map((part) =>
                    html(
                        "li",
                        {},
                        html("span", { class: "swatch", style: { background: partColour(part.key) } }),
                        part.name
                    )
                )
            ),
            chart,
            html("p", { class: "readout quiet", id: "line-readout" }),
            html("div", { id: "line-regions" })
        ].filter(Boolean)
    );
    drawRegionTable();
    let last = 0;
    lineView.redraw = () => chart.replaceChildren(drawLine(last));
    drawFitting(chart, (width) => {
        last = width;
        lineView.redraw();
    });
}
