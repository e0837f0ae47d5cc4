/* The application against the parts of the VM (thesis Figure 3.6). */

/* Shares in percent of a bar, and its name. */
function partBar(row, columns, y, left, width) {
    const group = svg("g", {
        role: "img",
        "aria-label":
            cellText(row.cells[0]) +
            ": " +
            columns.map(([column, c]) => column.heading + " " + cellText(row.cells[c]) + " %").join(", ")
    });
    group.append(svg("text", { x: left - 10, y: y + 14, "text-anchor": "end" }, cellText(row.cells[0])));
    let at = left;
    if (columns.every(([, c]) => cellNumber(row.cells[c]) === null))
        group.append(
            svg("text", { class: "quiet", x: left, y: y + 14 }, span.range === null ? "none" : "not known of this span")
        );
    for (const [column, c] of columns) {
        const share = cellNumber(row.cells[c]);
        if (share === null || share === 0) continue;
        const w = share * width;
        group.append(
            svg(
                "rect",
                { x: at, y, width: w, height: 20, style: { fill: partColour(column.key) } },
                svg("title", {}, column.heading + ": " + percent(share))
            )
        );
        if (w > 38)
            group.append(
                svg(
                    "text",
                    {
                        x: at + w / 2,
                        y: y + 14,
                        "text-anchor": "middle",
                        style: { fill: onPart(column.key), "font-size": "11px" }
                    },
                    percent(share)
                )
            );
        at += w;
    }
    return group;
}

function drawParts() {
    const table = inSpan(data.parts);
    const columns = table.columns
        .map((column, c) => [column, c])
        .slice(1)
        .filter(([, c]) => data.parts.rows.some((row) => cellNumber(row.cells[c]) > 0));
    const lead = byId("parts-lead"),
        body = byId("parts-body"),
        figure = html("figure", {});
    lead.textContent = spanNote(true) + "Which threads used the time and the events, in per cent of each.";
    body.replaceChildren(
        html(
            "ul",
            { class: "legend" },
            columns.map(([column]) =>
                html(
                    "li",
                    {},
                    html("span", { class: "swatch", style: { background: partColour(column.key) } }),
                    column.heading
                )
            )
        ),
        figure,
        ...table.notes.map((note) => html("p", { class: "quiet" }, "Not measured: " + note + ".")),
        html("details", {}, html("summary", {}, "The same as a table"), plainTable(table, "Shares of the parts"))
    );
    drawFitting(figure, (width) => {
        const longest = Math.max(...table.rows.map((row) => cellText(row.cells[0]).length));
        const left = Math.min(width * 0.4, 16 + longest * 7);
        const chart = svg("svg", { viewBox: "0 0 " + width + " " + (table.rows.length * 26 + 4) });
        chart.append(...table.rows.map((row, i) => partBar(row, columns, 2 + i * 26, left, width - left - 1)));
        figure.replaceChildren(chart);
    });
}
