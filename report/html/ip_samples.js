/* Where threads were found on a CPU: kinds of code, the hottest functions, and what the JVM counted of its pauses. */

const hotAtFirst = 20;

const javaKinds = ["interpreter", "c1_code", "c2_code", "compiled_code"];

const hotKinds = [
    ["all code", () => true],
    ["Java methods", (row) => javaKinds.includes(row.kind)],
    ["the JVM", (row) => row.kind.startsWith("vm_")],
    ["other libraries, stubs", (row) => !javaKinds.includes(row.kind) && !row.kind.startsWith("vm_")]
];

function isPart(column) {
    return column.key.endsWith("_share") && column.key !== "kernel_share";
}

/* "application_share" becomes its colour. */
function sharedColour(column) {
    return partColour(column.key.replace(/_share$/, ""));
}

/* A bar that is made of the parts of the VM, each as long as its share of the row. */
function stackedBar(table, row, share) {
    const stops = [];
    let at = 0;
    table.columns.forEach((column, c) => {
        const part = isPart(column) ? cellNumber(row.cells[c]) : null;
        if (!(part > 0)) return;
        const from = (at / share) * 100;
        at += part;
        stops.push(sharedColour(column) + " " + from.toFixed(2) + "% " + ((at / share) * 100).toFixed(2) + "%");
    });
    return stops.length === 0 ? null : "linear-gradient(to right, " + stops.join(", ") + ")";
}

function shareCell(table, row, c, highest) {
    const column = table.columns[c],
        cell = row.cells[c],
        share = cellNumber(cell);
    if (column.key === "share" && row.kind !== "total" && share > 0)
        return tableCell(cell, column, {
            class: "bar",
            style: { "--share": (share / highest).toFixed(4), "background-image": stackedBar(table, row, share) }
        });
    return tableCell(cell, column, share === 0 ? { class: "none" } : {});
}

function partHead(column) {
    const words = column.heading.replace(" (%)", "\u00a0(%)");
    return isPart(column)
        ? html("span", {}, html("span", { class: "swatch", style: { background: sharedColour(column) } }), words)
        : words;
}

function whereTable(table) {
    const all = columnIndex(table, "share"),
        isLast = (row) => row.kind === "total",
        highest = largest(table.rows.filter((row) => !isLast(row)).map((row) => cellNumber(row.cells[all])));
    return sortedTable(table, {
        id: "where",
        label: "IP samples by kind of code",
        column: all,
        most: table.rows.length,
        noun: "row",
        cellOf: (row, c) =>
            c === 0
                ? html("th", { scope: "row" }, cellText(row.cells[c]))
                : shareCell(table, row, c, highest),
        headOf: partHead,
        isLast
    });
}

/* A line, and what it is inlined in: of that, some at first. */
function lineCell(table, row) {
    const short = textOf(table, row, "mostly_at_short"),
        whole = textOf(table, row, "mostly_at");
    if (short === whole) return html("td", { class: "text wrap" }, html("span", { class: "name" }, whole));
    const button = html("button", { type: "button", class: "name", "aria-expanded": "false", title: whole }, short);
    button.addEventListener("click", () => {
        const isWhole = button.getAttribute("aria-expanded") === "true";
        button.setAttribute("aria-expanded", String(!isWhole));
        button.textContent = isWhole ? short : whole;
    });
    return html("td", { class: "text wrap" }, button);
}

function hotTable(shown) {
    const by = columnIndex(shown, "share"),
        highest = largest(shown.rows.map((row) => cellNumber(row.cells[by])));
    const cellOf = (row, c) => {
        const key = shown.columns[c].key,
            text = cellText(row.cells[c]);
        if (key === "code")
            return html(
                "th",
                { scope: "row", title: textOf(shown, row, "file") || null },
                html("span", { class: "name" }, text)
            );
        if (key === "mostly_at_short") return lineCell(shown, row);
        return shareCell(shown, row, c, highest);
    };
    return sortedTable(shown, {
        id: "hot",
        label: "The functions with most IP samples",
        column: by,
        most: hotAtFirst,
        noun: "function",
        cellOf,
        headOf: (column) => column.heading.replace(" (%)", "\u00a0(%)"),
        isLast: () => false,
        kinds: hotKinds.filter(([, isOfIt]) => shown.rows.some(isOfIt))
    });
}

function drawPlaces() {
    const [where, hot, pauses] = ["where", "hot", "pauses"].map((key) => inSpan(data.ip_samples[key])),
        lead = byId("ip-samples-lead");
    lead.textContent =
        where.why === undefined && span.range !== null
            ? spanNote(false)
            : where.why === undefined
            ? "The kernel sampled " +
              formatCount(where.hits) +
              " times, each " +
              formatNs(where.hit_period_ns) +
              " of a thread\u2019s CPU time, what the thread ran. Shares are of all CPU time, by the part of the " +
              "program that the thread belongs to."
            : "Not shown: " + (where.why ?? "no samples were taken") + ".";
    const { startup, virtual_threads: virtuals } = data;
    const notes = (where.notes ?? []).filter((note) => !data.phases.notes.includes(note));
    byId("ip-samples-body").replaceChildren(
        ...[
            where.why === undefined ? whereTable(where) : null,
            hot === undefined ? null : html("h3", {}, "The hottest code"),
            hot === undefined ? null : hotTable(hot),
            ...notes.map((note) => html("p", { class: "quiet" }, note)),
            html("h3", {}, "What the JVM counted"),
            pauses.why === undefined
                ? plainTable(pauses, "Collections, safepoints and class loading", "there was none")
                : html("p", { class: "quiet" }, "Not shown: " + (pauses.why ?? "the JVM's counters were not read") + "."),
            startup === undefined ? null : html("h3", {}, "The start of the JVM"),
            startup === undefined ? null : plainTable(startup, "Where the start went", "there was none"),
            virtuals === undefined ? null : html("h3", {}, "Virtual threads"),
            virtuals === undefined ? null : plainTable(virtuals, "Where virtual threads wait", "there are none")
        ].filter(Boolean)
    );
}
