/* The time line's regions as a table; of a span of time, what they are in it. */

/* The last step may be shorter. */
function lengthOf(step) {
    return Math.min(line.step_ns, line.end_ns - step * line.step_ns);
}

/* Of a region, those in the span. */
function stepsOfRegion(number) {
    const { from, to } = span.range ?? { from: 0, to: line.steps };
    return line.of_step.map((_, i) => i).filter((i) => i >= from && i < to && line.of_step[i] === number);
}

function timeOfRegion(number) {
    return stepsOfRegion(number).reduce((sum, i) => sum + lengthOf(i), 0);
}

/* A region as it is within the span: from the time line's own steps. */
function regionInSpan(region) {
    if (span.range === null) return region;
    const steps = stepsOfRegion(region.number),
        sumOf = (cpus) => steps.reduce((sum, i) => sum + cpus[i] * lengthOf(i), 0);
    const partOf = (key) => line.parts.find((part) => part.key === key) ?? {},
        cpuOf = (key) => sumOf(partOf(key).running ?? partOf(key).cpus ?? []) || 0,
        application = sumOf(partOf("application").cpus ?? []) || 0;
    return {
        ...region,
        n_times: steps.filter((step, i) => steps[i - 1] !== step - 1).length,
        cpu_ns: cpuOf("application") + cpuOf("gc"),
        rates: region.rates.map(() => null),
        rows: line.rows
            .map((row) => ({ label: row.label, share: application > 0 ? sumOf(row.cpus) / application : 0 }))
            .filter(({ share }) => share > 0.02)
            .slice(0, 4)
    };
}

function regionRow(region) {
    const number = region.is_gc ? region.number + ", garbage collector" : String(region.number);
    const rows = region.rows.map((row) => row.label + " " + percent(row.share)).join(", ");
    return html(
        "tr",
        {},
        html(
            "th",
            { scope: "row" },
            html("span", { class: "swatch", style: { background: regionColour(region.number) } }),
            number
        ),
        html("td", {}, formatNs(timeOfRegion(region.number))),
        html("td", {}, formatCount(region.n_times)),
        html("td", {}, formatNs(region.cpu_ns)),
        line.rates.slice(0, 1).map((rate, i) => html("td", {}, formatRatio(region.rates[i]))),
        html("td", { class: "text wrap" }, rows || unknown)
    );
}

/* What each region is: the figures, and the phases that make it. */
function regionTable() {
    const regions = regionsByTime()
            .filter((region) => stepsOfRegion(region.number).length > 0)
            .map(regionInSpan),
        heads = ["Region", "Time", "Times", "CPU\u00a0time", ...line.rates.slice(0, 1).map((rate) => rate.name)];
    if (regions.length === 0) return null;
    const more = html("button", { type: "button", class: "link" }, "all " + plural(regions.length, "region"));
    const rows = html("tbody", {}, regions.slice(0, regionRowsAtFirst).map(regionRow));
    more.addEventListener("click", () => {
        rows.replaceChildren(...regions.map(regionRow));
        more.remove();
    });
    return html(
        "div",
        {},
        scroller(
            "Regions",
            html(
                "table",
                { id: "region-table", class: "wide" },
                html(
                    "thead",
                    {},
                    html(
                        "tr",
                        {},
                        heads.map((head, i) => html("th", { scope: "col", class: i === 0 ? "text" : null }, head)),
                        html("th", { scope: "col", class: "text" }, "Phases by their own time in it")
                    )
                ),
                rows
            )
        ),
        regions.length > regionRowsAtFirst ? html("p", {}, more) : null
    );
}

function drawRegionTable() {
    byId("line-regions").replaceChildren(
        span.range === null ? "" : html("p", { class: "quiet" }, spanNote(true)),
        regionTable() ?? ""
    );
}
