/* The page of 'mmprof memtrace --html', 'placement --html' and 'advise --html': a section for each table. */

/* ---- live bytes against allocated bytes (thesis Figure A.1) ---- */

const livePlot = { left: 72, right: 16, top: 12, bottom: 236, height: 262 };
const liveLines = [
    ["live_most_bytes", "at most: until a collection finds an object dead", "var(--part-c2)"],
    ["live_least_bytes", "at least: until its last use", "var(--accent)"]
];

/* Points of a column, [allocated, bytes], in the order of allocation. */
function livePoints(table, key) {
    return table.rows
        .map((row) => [valueOf(table, row, "allocated_bytes"), valueOf(table, row, key), textOf(table, row, "what") === "collection"])
        .filter(([x, y]) => x !== null && y !== null);
}

function liveChart(width, table) {
    const { left, right, top, bottom, height } = livePlot,
        lines = liveLines.map(([key, label, ink]) => ({ label, ink, points: livePoints(table, key) })),
        mostX = largest(lines[0].points.map(([x]) => x)),
        mostY = largest(lines.flatMap(({ points }) => points.map(([, y]) => y)));
    const xOf = (x) => left + ((width - left - right) * x) / (mostX || 1),
        yOf = (y) => bottom - ((bottom - top) * y) / (mostY || 1);
    const text = (x, y, anchor, words) => svg("text", { x, y, "text-anchor": anchor, fill: "currentColor" }, words);
    const rule = (y) => svg("line", { x1: left, x2: width - right, y1: y, y2: y, style: { stroke: "var(--rule)" } });
    const drawn = ({ label, ink, points }) => [
        svg("path", { d: points.map(([x, y], i) => (i === 0 ? "M" : "L") + xOf(x) + " " + yOf(y)).join(""), fill: "none", style: { stroke: ink, "stroke-width": "2px" } }),
        ...points
            .filter(([, , isCollection]) => isCollection)
            .map(([x, y]) =>
                svg("circle", { cx: xOf(x), cy: yOf(y), r: 3.5, style: { fill: ink } }, svg("title", {}, "collection at " + formatBytes(x) + " allocated: " + formatBytes(y) + " live, " + label))
            )
    ];
    return svg(
        "svg",
        { viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": "Live bytes against allocated bytes" },
        rule(bottom),
        rule(top),
        text(left - 6, bottom + 4, "end", "0"),
        text(left - 6, top + 4, "end", formatBytes(mostY)),
        text(left, height - 6, "start", "0"),
        text(width - right, height - 6, "end", formatBytes(mostX) + " allocated"),
        lines.flatMap(drawn)
    );
}

function liveLegend() {
    const swatch = (ink) => html("span", { class: "swatch", style: { background: ink } });
    return html(
        "ul",
        { class: "legend" },
        liveLines.map(([, label, ink]) => html("li", {}, swatch(ink), label)),
        html("li", {}, "dots: collections")
    );
}

function drawLiveBytes(body, part) {
    const chart = html("div", {});
    body.append(
        liveLegend(),
        chart,
        html("details", {}, html("summary", {}, "The same as a table"), plainTable(part.table, part.title, part.why))
    );
    drawFitting(chart, (width) => chart.replaceChildren(liveChart(width, part.table)));
}

/* ---- hints ---- */

function drawHint(table, row, i) {
    const text = (key) => textOf(table, row, key),
        shares = ["share", "share_low", "share_high"].map(text);
    const saves = pretty(text("saving_ns")) + " of " + text("of") + ", " + shares[0] + "\u00a0% (" + shares[1] + " .. " + shares[2] + "\u00a0%)";
    return [
        html("h3", {}, i + 1 + ". " + text("action")),
        inlineList([
            ["Saves about", saves],
            ["By", text("basis")]
        ]),
        html("p", {}, text("evidence")),
        html("p", {}, "Verify: ", html("code", {}, text("verify")))
    ];
}

/* ---- all ---- */

const drawPart = {
    table: (body, part) => body.append(plainTable(part.table, part.title, part.why)),
    "live-bytes": drawLiveBytes,
    hints: (body, part) => body.append(...part.table.rows.flatMap((row, i) => drawHint(part.table, row, i)))
};

function tablesSection(part) {
    const body = html("div", {}),
        titleId = part.id + "-title";
    drawPart[part.kind](body, part);
    return html(
        "section",
        { id: part.id, "aria-labelledby": titleId },
        html("h2", { id: titleId }, part.title),
        html("p", { class: "lead" }, part.lead),
        body,
        part.table.notes.map((text) => html("p", { class: "quiet" }, text))
    );
}

/* Commands, say, are a line each. */
function subtitle(lines) {
    return lines.some((line) => line.length > 120) ? lines.map((line) => html("div", {}, line)) : [lines.join(" \u00b7 ")];
}

function drawTables() {
    const { title, of, parts } = data.tables;
    document.title = "mmprof: " + title;
    byId("title").textContent = title;
    byId("command").textContent = of;
    byId("subtitle").replaceChildren(...subtitle(parts[0].table.lines));
    document.querySelector("header > nav").replaceChildren(...(parts.length > 1 ? parts.map((part) => html("a", { href: "#" + part.id }, part.title)) : []));
    document.querySelector("main").append(...parts.map(tablesSection));
}
