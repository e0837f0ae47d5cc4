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
    if (text === unknown && span.range !== null) return whyNotInSpan;
    return text === unknown
        ? "not measured: " + (whyOf(column) || "the notes at the page\u2019s end say why")
        : null;
}

/* "12.34 \u00b10.56": the interval stands behind the number, in a width of its own; more than a third of it is grey. */
function withInterval(text) {
    const [number, interval] = text.split(" \u00b1"),
        value = (digits) => Number.parseFloat(digits.replaceAll(",", ""));
    if (interval === undefined) return pretty(text);
    return [
        value(interval) > value(number) / 3 ? html("span", { class: "vague" }, number) : number,
        html("span", { class: "interval" }, "\u2009\u00b1" + interval)
    ];
}

function tableCell(cell, column, attributes) {
    const text = cellText(cell),
        isNone = text === unknown || text === "n/a";
    return html(
        "td",
        {
            class: (isNone ? "none " : "") + (column.unit === "text" ? "text" : "") || null,
            title: cellTitle(cell, column) ?? (column.unit === "text" ? text : null),
            ...attributes
        },
        withInterval(text)
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

/* Text tables indent by spaces. */
function indented(text) {
    return text.replace(/^ +/, (spaces) => "\u00a0".repeat(2 * spaces.length));
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
        const isSilent = why !== undefined && span.range === null && cellText(row.cells[c]) === unknown;
        return tableCell(row.cells[c], table.columns[c], isSilent ? { title: "not known: " + why } : {});
    };
    const rowOf = (row) =>
        html(
            "tr",
            {},
            html("th", { scope: "row", title: cellText(row.cells[shown[0]]) }, indented(cellText(row.cells[shown[0]]))),
            shown.slice(1).map((c) => cellOf(row, c))
        );
    const heads = shown.map((c) => plainHead(table.columns[c]));
    return scroller(
        label,
        html(
            "table",
            { "aria-label": label },
            html("thead", {}, html("tr", {}, heads)),
            html("tbody", {}, table.rows.map(rowOf))
        )
    );
}

/* ---- sorting ---- */

/* The largest first, what is not known last; texts the other way round. */
function rowOrder(table, { column, isDescending }) {
    const sign = isDescending ? -1 : 1;
    return (a, b) => {
        if (table.columns[column].unit === "text")
            return sign * cellText(a.cells[column]).localeCompare(cellText(b.cells[column]));
        const x = cellNumber(a.cells[column]),
            y = cellNumber(b.cells[column]);
        if (x === null || y === null) return (x === null) - (y === null);
        return sign * (x - y);
    };
}

/* A click on a heading: that column, or its other order. */
function turnSort(sort, table, column) {
    const isText = table.columns[column].unit === "text";
    sort.isDescending = sort.column === column ? !sort.isDescending : !isText;
    sort.column = column;
}

function saySort(heads, shown, { column, isDescending }) {
    heads.querySelectorAll("th").forEach((th, i) => {
        const order = isDescending ? "descending" : "ascending";
        th.setAttribute("aria-sort", shown[i] === column ? order : "none");
    });
}

/*
 * A table sorted by its headings, at first by the given column, with so many rows until a button shows all.
 *
 * cellOf(row, c)     the cell of a column
 * headOf(column)     what the heading's button has in it
 * isLast(row)        rows that stay below
 * kinds              [name, which rows]: what a list lets one choose, or none
 */
function sortedTable(table, { id, label, column, most, noun, cellOf, headOf, isLast, kinds = [] }) {
    const shown = table.columns.map((_, c) => c).filter((c) => !table.columns[c].hidden);
    const rows = table.rows.filter((row) => !isLast(row)),
        sort = { column, isDescending: true };
    const body = html("tbody", { id: id + "-rows" }),
        more = html("button", { type: "button", class: "link" });
    let isWhole = false,
        kind = 0;
    const draw = () => {
        const sorted = rows.filter((row) => kinds.length === 0 || kinds[kind][1](row)).sort(rowOrder(table, sort));
        more.hidden = sorted.length <= most;
        body.replaceChildren(
            ...sorted
                .slice(0, isWhole ? sorted.length : most)
                .map((row) => html("tr", {}, shown.map((c) => cellOf(row, c))))
        );
        more.textContent = isWhole ? "only the first " + most : "show " + plural(sorted.length, noun);
    };
    const heads = html("tr", { id: id + "-heads" });
    const by = (c) => {
        turnSort(sort, table, c);
        saySort(heads, shown, sort);
        draw();
    };
    heads.append(
        ...shown.map((c) =>
            html(
                "th",
                { scope: "col", class: table.columns[c].unit === "text" ? "text" : null },
                html("button", { type: "button", onclick: () => by(c) }, headOf(table.columns[c]))
            )
        )
    );
    more.addEventListener("click", () => {
        isWhole = !isWhole;
        draw();
    });
    saySort(heads, shown, sort);
    draw();
    const choose = (event) => {
        kind = Number(event.target.value);
        draw();
    };
    const options = kinds.map(([name], i) => html("option", { value: i }, name));
    const last = table.rows.filter(isLast).map((row) => html("tr", {}, shown.map((c) => cellOf(row, c))));
    return html(
        "div",
        {},
        kinds.length === 0
            ? null
            : html(
                  "div",
                  { class: "controls" },
                  html("label", {}, "Show", html("select", { id: id + "-kind", onchange: choose }, options))
              ),
        scroller(
            label,
            html(
                "table",
                { class: "wide", id: id + "-table", "aria-label": label },
                html("thead", {}, heads),
                body,
                last.length === 0 ? null : html("tfoot", {}, last)
            )
        ),
        html("p", { class: "more" }, more)
    );
}
