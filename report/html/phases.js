/* The table of phases. */

const rowsAtFirst = 25;

/* Of a trace of samples alone all rows are "method". */
function isMethodRow(row) {
    return ["phase", "sampled", "method"].includes(row.kind);
}

const phases = {
    table: data.phases /* in a span of time: of that */,
    shown: [] /* indexes of the columns */,
    rows: [] /* of methods */,
    others: [],
    total: undefined,
    open: new Set(),
    sort: { column: -1, isDescending: true },
    filter: "",
    isWhole: false
};

const nameKey = columnIndex(data.phases, "name") < 0 ? "method" : "name",
    hasIntervals = columnIndex(data.phases, "time_share_error") >= 0;

function readPhases() {
    const table = inSpan(data.phases);
    phases.table = table;
    phases.rows = table.rows.filter(isMethodRow);
    phases.others = table.rows.filter((row) => !isMethodRow(row) && row.kind !== "total");
    phases.total = table.rows.find((row) => row.kind === "total");
    phases.open.clear();
}

/* The method of a row as the class file calls it. */
function rowKey(row) {
    const [cls, method, descriptor] = ["class", nameKey, "descriptor"].map((key) => textOf(phases.table, row, key));
    return method === unknown || method === "n/a" ? "" : cls + "." + method + descriptor;
}

/* More than the whole program has on the average: what the thesis calls a potential bottleneck. */
function isHigh(row, c) {
    const column = phases.table.columns[c];
    const average = phases.total === undefined ? null : cellNumber(phases.total.cells[c]);
    const isCost = column.key === "cpi" || column.key.endsWith("_per_1000_instructions");
    return isCost && average !== null && row.kind === "phase" && cellNumber(row.cells[c]) > average;
}

function isBar(column) {
    return column.key === "time_share" || column.key === "self_share";
}

function phaseCell(row, c) {
    const column = phases.table.columns[c],
        cell = row.cells[c],
        number = cellNumber(cell);
    if (isBar(column) && hasIntervals && (number === null || row.kind === "total"))
        return tableCell(cell, column, { class: "has-interval" });
    if (isBar(column) && number !== null && row.kind !== "total")
        return tableCell(cell, column, { class: hasIntervals ? "bar has-interval" : "bar", style: { "--share": Math.min(1, number).toFixed(4) } });
    if (isHigh(row, c))
        return tableCell(cell, column, {
            class: "high",
            title: "more than the average, " + cellText(phases.total.cells[c])
        });
    return tableCell(cell, column, column.key === "reason" ? { class: "text cut" } : {});
}

/* ---- one row ---- */

function detailOf(row) {
    const hidden = phases.table.columns
        .map((column, c) => [column, row.cells[c]])
        .filter(
            ([column, cell]) =>
                column.hidden &&
                !["class", nameKey, "descriptor"].includes(column.key) &&
                cellText(cell) !== unknown &&
                cellText(cell) !== "n/a"
        );
    const name =
        textOf(phases.table, row, "class").replaceAll("/", ".") + "." + textOf(phases.table, row, nameKey);
    return html(
        "tr",
        { class: "detail" },
        html(
            "td",
            { colspan: phases.shown.length },
            html(
                "p",
                {},
                html("span", { class: "name" }, name + textOf(phases.table, row, "descriptor")),
                " ",
                html(
                    "button",
                    { class: "link", type: "button", onclick: () => callTree.show(rowKey(row)) },
                    "show in the flame graph"
                )
            ),
            inlineList(hidden.map(([column, cell]) => [column.key.replaceAll("_", " "), pretty(cellText(cell))]))
        )
    );
}

/* How a row is known, before its name: not by probes for all the time. */
function knownMark(row) {
    const words = textOf(phases.table, row, "recorded_ns");
    if (row.kind === "sampled")
        return html("span", { class: "partly", title: "no probes: known by stack samples" }, "\u25cb\u00a0");
    if (!/%/.test(words)) return null;
    const title = "recorded for " + words + (hasIntervals ? "" : "; its shares are of that time");
    return html("span", { class: "partly", title }, "\u25d4\u00a0");
}

function phaseName(row, label) {
    if (!phases.rows.includes(row)) return label;
    const isOpen = phases.open.has(row);
    return html(
        "button",
        {
            type: "button",
            class: "name",
            "aria-expanded": String(isOpen),
            title: label + (isOpen ? ": less of it" : ": more of it"),
            onclick: () => turn(row)
        },
        knownMark(row),
        label
    );
}

function turn(row) {
    if (!phases.open.delete(row)) phases.open.add(row);
    drawRows();
    const at = visibleRows().indexOf(row);
    byId("phase-rows").querySelectorAll("button.name")[at]?.focus();
}

function phaseRow(row) {
    const cells = phases.shown.map((c, i) =>
        i === 0
            ? html("th", { scope: "row", title: cellText(row.cells[c]) }, phaseName(row, cellText(row.cells[c])))
            : phaseCell(row, c)
    );
    const lines = [html("tr", {}, cells)];
    if (phases.open.has(row)) lines.push(detailOf(row));
    return lines;
}

/* ---- which rows, in which order ---- */

function matchingRows() {
    const wanted = phases.filter.toLowerCase();
    const names = (row) => rowKey(row).replaceAll("/", ".") + " " + textOf(phases.table, row, "folded");
    const rows = phases.rows.filter((row) => names(row).toLowerCase().includes(wanted));
    return phases.sort.column < 0 ? rows : rows.sort(rowOrder(phases.table, phases.sort));
}

function visibleRows() {
    const rows = matchingRows();
    return phases.isWhole ? rows : rows.slice(0, rowsAtFirst);
}

function drawRows() {
    const all = matchingRows();
    byId("phase-rows").replaceChildren(...visibleRows().flatMap(phaseRow));
    const more = byId("phase-more");
    more.hidden = all.length <= rowsAtFirst;
    more.textContent = phases.isWhole ? "only the first " + rowsAtFirst : "all " + plural(all.length, "row");
    byId("phase-count").textContent =
        phases.filter === "" ? "" : all.length + " of " + plural(phases.rows.length, "row");
}

function sortBy(column) {
    turnSort(phases.sort, phases.table, column);
    saySort(byId("phase-heads"), phases.shown, phases.sort);
    drawRows();
}

/* ---- the whole ---- */

function headOf(c) {
    const column = phases.table.columns[c],
        why = whyOf(column);
    return html(
        "th",
        {
            scope: "col",
            class: column.unit === "text" ? "text" : hasIntervals && isBar(column) ? "has-interval" : null,
            "aria-sort": "none",
            title: why === "" ? null : "not measured: " + why
        },
        html("button", { type: "button", onclick: () => sortBy(c) }, column.heading.replace(" (%)", "\u00a0(%)"))
    );
}

function isDetail(column) {
    return column.key.endsWith("_per_1000_instructions");
}

/* A heading over the columns of misses. */
function overHeads() {
    const columns = phases.shown.map((c) => phases.table.columns[c]);
    const first = columns.findIndex(isDetail),
        n = columns.filter(isDetail).length;
    if (first < 0) return null;
    return html(
        "tr",
        { class: "over" },
        html("td", {}),
        Array.from({ length: first - 1 }, () => html("td", {})),
        html("th", { colspan: n, scope: "colgroup" }, "per 1,000 instructions"),
        Array.from({ length: columns.length - first - n }, () => html("td", {}))
    );
}

function phaseControls() {
    const search = html("input", {
        type: "search",
        id: "phase-filter",
        placeholder: "package, class or method",
        value: phases.filter,
        oninput: (event) => {
            phases.filter = event.target.value;
            drawRows();
        }
    });
    const more = html("button", {
        type: "button",
        class: "link",
        id: "phase-more",
        hidden: true,
        onclick: () => {
            phases.isWhole = !phases.isWhole;
            drawRows();
        }
    });
    return html(
        "div",
        { class: "controls" },
        html("label", {}, "Find", search),
        more,
        html("span", { id: "phase-count", class: "quiet", role: "status" })
    );
}

/* What is known of single calls; the trace itself is described elsewhere. */
function callsDetails(id, summary, caption) {
    const table = data[id];
    if (table === undefined || table.rows.length === 0) return "";
    const said = span.range === null ? table.lines.filter((line) => !data.about.lines.includes(line)) : [];
    return html(
        "details",
        { id },
        html("summary", {}, summary),
        said.map((line) => html("p", {}, line)),
        plainTable(inSpan(table), caption),
        table.notes.map((note) => html("p", { class: "quiet" }, note))
    );
}

/* Those with something in them; why a method has no probes stands behind its calls. */
function shownColumns() {
    const table = data.phases,
        reason = columnIndex(table, "reason");
    const shown = table.columns
        .map((_, c) => c)
        .filter((c) => !table.columns[c].hidden && c !== reason)
        .filter((c) => table.rows.some((row) => ![unknown, "n/a", ""].includes(cellText(row.cells[c]))));
    if (reason < 0 || table.columns[reason].hidden) return shown;
    const before = ["ns_per_call", "calls", "known_by"]
        .map((key) => shown.indexOf(columnIndex(table, key)))
        .find((i) => i >= 0);
    shown.splice(before === undefined ? shown.length : before + 1, 0, reason);
    return shown;
}

function marksSentence() {
    const has = (mark) => phases.rows.some((row) => knownMark(row)?.textContent.startsWith(mark));
    const some = [
        has("\u25d4") ? "\u25d4: recorded by probes for a part of the time" : null,
        has("\u25cb") ? "\u25cb: no probes, known by stack samples" : null
    ].filter(Boolean);
    if (some.length === 0) return "";
    return (
        " " +
        some.join("; ") +
        (span.range !== null
            ? ". No intervals are known of a span."
            : hasIntervals
            ? ". Shares are of all the time; \u00b1 is half of the 95 % interval of what comes from samples."
            : "; its shares are of that.")
    );
}

function drawPhases() {
    readPhases();
    const { table, total: average } = phases;
    phases.shown = shownColumns();
    if (isOfSamples) byId("phases-title").textContent = "Methods";
    if (isOfSamples) document.querySelector('nav a[href="#phases"]').textContent = "Methods";
    byId("phases-lead").textContent =
        spanNote(true) +
        (isOfSamples
            ? "The methods in stack samples, with their callees, and the JVM\u2019s own threads; \u00b1 is " +
              "half of the 95 % interval. The column Self excludes callees. "
            : "The methods in which the program spends much of its time, with their callees. The column Self " +
              "excludes the other rows and adds up to 100 %. ") +
        "A method\u2019s name shows more of it." +
        (columnIndex(table, "cpi") >= 0 && average !== undefined && valueOf(table, average, "cpi") !== null
            ? " Coloured figures are above the average of the last row."
            : "") +
        marksSentence();
    byId("phases-body").replaceChildren(
        phaseControls(),
        scroller(
            "Phases",
            html(
                "table",
                { class: "wide", id: "phase-table" },
                html(
                    "thead",
                    { id: "phase-head" },
                    overHeads(),
                    html("tr", { id: "phase-heads" }, phases.shown.map(headOf))
                ),
                html("tbody", { id: "phase-rows" }),
                html("tbody", {}, phases.others.flatMap(phaseRow)),
                html("tfoot", {}, average === undefined ? null : phaseRow(average))
            )
        ),
        callsDetails("jit", "Interpreted, compiled and deoptimized methods", "Methods by how they ran"),
        callsDetails("slow", "Why the slowest calls are slow", "The slowest calls of the phases"),
        callsDetails(
            "stats",
            "How much calls vary, and whether the phases differ",
            "Variation of calls within the phases"
        )
    );
    const byTime = columnIndex(table, "time_share");
    const isByTime = phases.rows.every((row, i) => i === 0 || compareTime(phases.rows[i - 1], row, byTime));
    if (phases.sort.column >= 0) {
        saySort(byId("phase-heads"), phases.shown, phases.sort);
        drawRows();
    } else if (isByTime) sortBy(byTime);
    else drawRows(); /* as the command line asked for */
}

function compareTime(a, b, c) {
    return cellNumber(a.cells[c]) >= cellNumber(b.cells[c]);
}
