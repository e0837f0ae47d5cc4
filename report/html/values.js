/* Tables that only some traces have: calls by the value of an argument, and objects that still live. */

const valuesAtFirst = 20;

function drawTable(id, table, lead, share, noun) {
    const isLast = (row) => row.kind === "total" || row.kind === "others",
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
        "The calls of a method by the value of an argument. Time is that on the CPU, in per cent of all CPU time.",
        "time_share",
        "value"
    );
}

function drawLiveObjects() {
    if (data.live_objects === undefined) return;
    const about = data.live_objects.lines.map((words) => words.replace(/^(\w+) +/, "$1 "));
    drawTable("live-objects", inSpan(data.live_objects), about.join("; ") + ".", "live_share", "site");
}
