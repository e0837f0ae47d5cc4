/* The table of phases. */

const rowsAtFirst = 25;

const phases = {
    table: data.phases,
    shown: [] /* indexes of the columns */,
    rows: data.phases.rows.filter((row) => row.kind === "phase" || row.kind === "sampled"),
    others: data.phases.rows.filter((row) => !["phase", "sampled", "total"].includes(row.kind)),
    total: data.phases.rows.find((row) => row.kind === "total"),
    open: new Set(),
    sort: { column: -1, isDescending: true },
    filter: "",
    isWhole: false
};

/* The method of a row as the class file calls it. */
function rowKey(row) {
    const [cls, method, descriptor] = ["class", "method", "descriptor"].map((key) =>
        textOf(phases.table, row, key)
    );
    return method === unknown ? "" : cls + "." + method + descriptor;
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
    if (isBar(column) && number !== null && row.kind !== "total")
        return tableCell(cell, column, { class: "bar", style: { "--share": Math.min(1, number).toFixed(4) } });
    if (isHigh(row, c))
        return tableCell(cell, column, {
            class: "high",
            title: "more than the average, " + cellText(phases.total.cells[c])
        });
    return tableCell(cell, column);
}

/* ---- one row ---- */

function detailOf(row) {
    const hidden = phases.table.columns
        .map((column, c) => [column, row.cells[c]])
        .filter(
            ([column, cell]) =>
                column.hidden &&
                !["class", "method", "descriptor"].includes(column.key) &&
                cellText(cell) !== unknown &&
                cellText(cell) !== "n/a"
        );
    const name =
        textOf(phases.table, row, "class").replaceAll("/", ".") + "." + textOf(phases.table, row, "method");
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
                    "show in the call tree"
                )
            ),
            inlineList(hidden.map(([column, cell]) => [column.key.replaceAll("_", " "), pretty(cellText(cell))]))
        )
    );
}

/* A row that was not recorded for all the time says so next to its name. */
function partlyMark(row) {
    const words = textOf(phases.table, row, "recorded_ns");
    if (!/%/.test(words)) return null;
    const title = "recorded for " + words + "; its shares are of that time";
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
        partlyMark(row),
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
    const rows = phases.rows.filter((row) => rowKey(row).replaceAll("/", ".").toLowerCase().includes(wanted));
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
    more.textContent = phases.isWhole ? "only the first " + rowsAtFirst : "all " + plural(all.length, "phase");
    byId("phase-count").textContent =
        phases.filter === "" ? "" : all.length + " of " + plural(phases.rows.length, "phase");
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
        { scope: "col", "aria-sort": "none", title: why === "" ? null : "not measured: " + why },
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

/* How calls vary within the phases and between them (thesis 3.2.3); the trace itself is described elsewhere. */
function statsDetails() {
    if (data.stats === undefined || data.stats.rows.length === 0) return null;
    const said = data.stats.lines.filter((line) => !data.about.lines.includes(line));
    return html(
        "details",
        { id: "stats" },
        html("summary", {}, "How much calls vary, and whether the phases differ"),
        said.map((line) => html("p", {}, line)),
        plainTable(data.stats, "Variation of calls within the phases"),
        data.stats.notes.map((note) => html("p", { class: "quiet" }, note))
    );
}

function drawPhases() {
    const table = phases.table,
        average = phases.total;
    phases.shown = table.columns.map((column, c) => c).filter((c) => !table.columns[c].hidden);
    byId("phases-lead").textContent =
        "The methods in which the program spends much of its time, with all that they " +
        "call. The column Self is without the other phases and adds up to 100 %. A phase's name shows more of it." +
        (columnIndex(table, "cpi") >= 0 && valueOf(table, average, "cpi") !== null
            ? " Coloured figures are above the average of the last row."
            : "") +
        (phases.rows.some((row) => partlyMark(row) !== null)
            ? " A row with \u25d4 was recorded for a part of the time, and its shares are of that."
            : "");
    byId("phases-body").replaceChildren(
        phaseControls(),
        html(
            "div",
            { class: "scroll" },
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
        statsDetails() ?? ""
    );
    const byTime = columnIndex(table, "time_share");
    const isByTime = phases.rows.every((row, i) => i === 0 || compareTime(phases.rows[i - 1], row, byTime));
    if (isByTime) sortBy(byTime);
    else drawRows(); /* as the command line asked for */
}

function compareTime(a, b, c) {
    return cellNumber(a.cells[c]) >= cellNumber(b.cells[c]);
}
