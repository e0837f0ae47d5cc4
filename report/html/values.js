/* Tables that only some traces have: calls by the value of an argument, objects that still live, misses of fields. */

const valuesAtFirst = 20;

function drawTable(id, table, lead, share, noun) {
    const tails = ["total", "others", "no_name", "no_bytecode", "no_java_code", "no_object", "no_heap", "mmprof"],
        isLast = (row) => tails.includes(row.kind),
        by = columnIndex(table, share),
        hasIntervals = table.rows.some((row) => cellText(row.cells[by]).includes("\u00b1")),
        highest = largest(table.rows.filter((row) => !isLast(row)).map((row) => cellNumber(row.cells[by])));
    const cellOf = (row, c) => {
        const cell = row.cells[c];
        if (c === 0) return html("th", { scope: "row", class: "wrap" }, html("span", { class: "name" }, cellText(cell)));
        if (c !== by) return tableCell(cell, table.columns[c], {});
        const isBar = !isLast(row) && cellNumber(cell) > 0,
            classes = (isBar ? "bar" : "") + (hasIntervals ? " has-interval" : "");
        return tableCell(cell, table.columns[c], {
            class: classes || null,
            style: isBar ? { "--share": (cellNumber(cell) / highest).toFixed(4) } : {}
        });
    };
    byId(id + "-lead").textContent = spanNote(false) + lead;
    byId(id + "-body").replaceChildren(
        sortedTable(table, {
            id: id + "-of",
            label: byId(id + "-title").textContent,
            column: by,
            most: valuesAtFirst,
            noun,
            cellOf,
            headOf: (column) => column.heading.replace(" (%)", "\u00a0(%)"),
            isLast
        }),
        ...table.notes.map((note) => html("p", { class: "quiet" }, note))
    );
}

function drawValues() {
    if (data.values === undefined) return;
    drawTable(
        "values",
        inSpan(data.values),
        "A method\u2019s calls by the value of an argument. Time is CPU time, in per cent of all CPU time.",
        "time_share",
        "value"
    );
}

function drawLiveObjects() {
    if (data.live_objects === undefined) return;
    const about = data.live_objects.lines.map((words) => words.replace(/^(\w+) +/, "$1 "));
    drawTable("live-objects", inSpan(data.live_objects), about.join("; ") + ".", "live_share", "site");
}

function drawFields() {
    if (data.fields === undefined) return;
    drawTable(
        "fields",
        inSpan(data.fields),
        "Simulated misses by the field of the object at the address, and by the field that the bytecode names.",
        "l2_by_object_share",
        "field"
    );
}
