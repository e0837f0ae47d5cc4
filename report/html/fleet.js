/* The page of 'mmprof fleet select --html': the table, and a chart of each phase by day, a line for each version. */

const fleetPlot = { left: 64, right: 12, top: 26, bottom: 150, height: 176 };
const fleetInks = ["application", "gc", "c2", "other_vm", "vm_thread", "c1"].map(partColour);

/* The points of each phase, in the order of the table. */
function fleetPhases(points) {
    const phases = new Map();
    for (const point of points) {
        const key = JSON.stringify([point.service, point.phase]);
        if (!phases.has(key)) phases.set(key, { service: point.service, phase: point.phase, points: [] });
        phases.get(key).points.push(point);
    }
    return [...phases.values()];
}

function fleetLine(points, xOf, yOf, ink) {
    const d = points.map((point, i) => (i === 0 ? "M" : "L") + xOf(point) + " " + yOf(point)).join("");
    return [
        svg("path", { d, fill: "none", style: { stroke: ink, "stroke-width": "2px" } }),
        ...points.map((point) =>
            svg(
                "circle",
                { cx: xOf(point), cy: yOf(point), r: 3.5, style: { fill: ink } },
                svg("title", {}, (point.version === null ? "no version" : "version " + point.version) + ", " + point.day + ": " + formatNs(point.ns_per_call) + " a call, " + formatPercent(point.share) + " %")
            )
        )
    ];
}

function fleetChart(width, phase, days, versions) {
    const { left, right, top, bottom, height } = fleetPlot,
        known = phase.points.filter((point) => point.ns_per_call !== null),
        most = 1.1 * largest(known.map((point) => point.ns_per_call)),
        room = width - left - right;
    const first = Date.parse(days[0]),
        span = Date.parse(days[days.length - 1]) - first;
    const xOf = (point) => left + (days.length < 2 ? room / 2 : (room * (Date.parse(point.day) - first)) / span),
        yOf = (point) => bottom - ((bottom - top) * point.ns_per_call) / most;
    const label = "Time per call of " + phase.phase + " by day";
    const text = (x, y, anchor, words) => svg("text", { x, y, "text-anchor": anchor, fill: "currentColor" }, words);
    const axis = (y) => svg("line", { x1: left, x2: width - right, y1: y, y2: y, style: { stroke: "var(--rule)" } });
    return svg(
        "svg",
        { viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": label },
        axis(bottom),
        text(left - 6, bottom + 4, "end", "0"),
        most > 0 ? [axis(yOf({ ns_per_call: most / 1.1 })), text(left - 6, yOf({ ns_per_call: most / 1.1 }) + 4, "end", formatNs(most / 1.1))] : [],
        days.length < 2 ? text(left + room / 2, height - 6, "middle", days[0]) : [],
        days.length > 1 ? [text(left, height - 6, "start", days[0]), text(width - right, height - 6, "end", days[days.length - 1])] : [],
        versions.flatMap((version, i) =>
            fleetLine(known.filter((point) => point.version === version), xOf, yOf, fleetInks[i % fleetInks.length])
        )
    );
}

function fleetLegend(versions) {
    const item = (version, i) =>
        html(
            "li",
            {},
            html("span", { class: "swatch", style: { background: fleetInks[i % fleetInks.length] } }),
            version === null ? "no version" : "version " + version
        );
    return html("ul", { class: "legend", "aria-label": "Versions" }, versions.map(item));
}

function drawFleet() {
    const { of, table, points } = data.fleet,
        days = [...new Set(points.map((point) => point.day))].sort(),
        versions = [...new Set(points.map((point) => point.version))].sort();
    document.title = "mmprof fleet";
    byId("title").textContent = "Phases of a fleet";
    byId("command").textContent = of;
    byId("subtitle").textContent = table.lines[0] ?? "";
    byId("phases-lead").textContent =
        "The phases of each service over all of its runs; below, CPU time per call by day (UTC), a line for each version.";
    byId("phases-body").replaceChildren(
        plainTable(table, "Phases", "their calls were not recorded"),
        ...table.notes.map((text) => html("p", { class: "quiet" }, text)),
        fleetLegend(versions)
    );
    for (const phase of fleetPhases(points)) {
        const body = html("div", {});
        byId("phases-body").append(html("h3", {}, (phase.service === null ? "" : phase.service + ": ") + phase.phase), body);
        drawFitting(body, (width) => body.replaceChildren(fleetChart(width, phase, days, versions)));
    }
}
