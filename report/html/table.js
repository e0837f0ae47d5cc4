/* Tables of the data, sorted by whoever reads them. */

function cellText(cell) {
    return Array.isArray(cell) ? cell[0] : cell;
}

function cellNumber(cell) {
    return Array.isArray(cell) ? cell[1] : null;
}

/* The text with the right letter for a millionth. */
function pretty(text) {
    return text.replace(/^([\d.]+) us$/, "$1 \u00b5s");
}

function columnIndex(table, key) {
    return table.columns.findIndex((column) => column.key === key);
}

/* The number in a row's column of that key, or null. */
function valueOf(table, row, key) {
    const c = columnIndex(table, key);
    return c < 0 ? null : cellNumber(row.cells[c]);
}

function textOf(table, row, key) {
    const c = columnIndex(table, key);
    return c < 0 ? "" : cellText(row.cells[c]);
}

/* Why a column has no numbers, as the trace says it; "" when it has. */
function whyOf(column) {
    for (const trace of data.about.events)
        for (const event of trace.events) {
            const keys = [event.name, event.name + "_per_1000_instructions"];
            const isOfCpi = column.key === "cpi" && /^(cpu-)?cycles|^instructions/i.test(event.name);
            if (event.why !== "" && (keys.includes(column.key) || isOfCpi)) return event.name + ": " + event.why;
        }
    return "";
}

function cellTitle(cell, column) {
    const text = cellText(cell);
    if (text === "n/a") return "makes no sense for this row";
    return text === unknown
        ? "not measured: " + (whyOf(column) || "the notes at the page\u2019s end say why")
        : null;
}

function tableCell(cell, column, attributes) {
    const text = cellText(cell),
        isNone = text === unknown || text === "n/a";
    return html(
        "td",
        {
            class: isNone ? "none" : column.unit === "text" ? "text" : null,
            title: cellTitle(cell, column),
            ...attributes
        },
        pretty(text)
    );
}

/* Terms and what they are, in a line that wraps. */
function inlineList(pairs) {
    return html(
        "dl",
        { class: "inline" },
        pairs.map(([term, words]) => html("div", {}, html("dt", {}, term), html("dd", {}, words)))
    );
}

function plainHead(column) {
    const isPlainShare = column.unit === "share" && !column.heading.includes("%");
    return html(
        "th",
        { scope: "col", class: column.unit === "text" ? "text" : null },
        column.heading + (isPlainShare ? "\u00a0(%)" : "")
    );
}

/* A table as the text report prints it, all in one. */
function plainTable(table, label, why) {
    const shown = table.columns.map((column, c) => c).filter((c) => !table.columns[c].hidden);
    const cellOf = (row, c) => {
        const isSilent = why !== undefined && cellText(row.cells[c]) === unknown;
        return tableCell(row.cells[c], table.columns[c], isSilent ? { title: "not known: " + why } : {});
    };
    const rowOf = (row) =>
        html(
            "tr",
            {},
            html("th", { scope: "row" }, cellText(row.cells[shown[0]])),
            shown.slice(1).map((c) => cellOf(row, c))
        );
    const heads = shown.map((c) => plainHead(table.columns[c]));
    return html(
        "div",
        { class: "scroll" },
        html(
            "table",
            { "aria-label": label },
            html("thead", {}, html("tr", {}, heads)),
            html("tbody", {}, table.rows.map(rowOf))
        )
    );
}
