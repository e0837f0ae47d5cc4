/* What each pair of thresholds selects (thesis Figures 3.4 and 3.5). */

const sweep = data.sweep;
const sweepView = { weight: 0, grain: 0, over: "grain", redraw: () => {} };

function nearest(thresholds, wanted) {
    let best = 0;
    thresholds.forEach((threshold, i) => {
        if (Math.abs(Math.log(threshold / wanted)) < Math.abs(Math.log(thresholds[best] / wanted))) best = i;
    });
    return best;
}

/* A value of a cell: along is the axis' index, other that of the curve. */
function sweepAt(grid, along, other) {
    return sweepView.over === "grain" ? grid[other][along] : grid[along][other];
}

/* The curves: thresholds at powers of ten that are not the same as the one before. */
function curvesOf(grid) {
    const thresholds = sweepView.over === "grain" ? sweep.weights : sweep.grains;
    const n = (sweepView.over === "grain" ? sweep.grains : sweep.weights).length;
    const curves = [];
    thresholds.forEach((threshold, i) => {
        if (Math.abs(Math.log10(threshold) - Math.round(Math.log10(threshold))) > 1e-6) return;
        const values = Array.from({ length: n }, (_, along) => sweepAt(grid, along, i));
        const last = curves[curves.length - 1];
        if (values.every((value) => !(value > 0))) return;
        if (last !== undefined && last.values.every((value, k) => value === values[k]))
            ((last.lowest = last.lowest ?? last.threshold), (last.threshold = threshold));
        else curves.push({ threshold, values });
    });
    return curves;
}

/* Below some threshold all is selected: the axis begins a decade before the first change. */
function firstOfInterest() {
    const curves = curvesOf(sweep.methods);
    let at = 0;
    while (curves.length > 0 && curves.every((curve) => curve.values[at + 1] === curve.values[0])) at++;
    return Math.max(0, at - 5);
}

function plotScale(values, size, top) {
    const positive = values.filter((value) => value > 0);
    const low = Math.floor(Math.log10(Math.min(...positive)) + 1e-9),
        high = Math.ceil(Math.log10(Math.max(...positive)) - 1e-9);
    const span = Math.max(1, high - low);
    return { low: 10 ** low, high: 10 ** (low + span), y: (v) => top + size * (1 - (Math.log10(v) - low) / span) };
}

/* The line ends where nothing is selected. */
function curvePath(values, from, x, y) {
    let path = "";
    values.forEach((value, i) => {
        if (value > 0 && i >= from) path += (path === "" ? "M" : "L") + x(i).toFixed(1) + " " + y(value).toFixed(1);
    });
    return path;
}

function drawPlot(width, grid, title, yLabel, budget) {
    const left = 52,
        right = 64,
        top = 26,
        height = 210,
        bottom = top + height;
    const along = sweepView.over === "grain" ? sweep.grains : sweep.weights;
    const curves = curvesOf(grid),
        values = curves.flatMap((curve) => curve.values),
        from = firstOfInterest();
    const logs = [Math.log10(along[from]), Math.log10(along[along.length - 1])];
    const xOf = (t) => left + ((Math.log10(t) - logs[0]) / (logs[1] - logs[0])) * (width - left - right);
    const chart = svg("svg", { viewBox: "0 0 " + width + " " + (bottom + 40), role: "img", "aria-label": title });
    const scale = plotScale(values, height, top),
        x = (i) => xOf(along[i]);
    chart.append(svg("text", { x: left, y: 12 }, title));
    for (const mark of decades(scale.low, scale.high, 7))
        chart.append(
            svg("line", { class: "rule", x1: left, x2: width - right, y1: scale.y(mark), y2: scale.y(mark) }),
            svg("text", { class: "quiet", x: left - 6, y: scale.y(mark) + 4, "text-anchor": "end" }, yLabel(mark))
        );
    for (const mark of decades(along[from], along[along.length - 1], Math.max(2, Math.floor(width / 70))))
        chart.append(
            svg("line", { class: "axis", x1: xOf(mark), x2: xOf(mark), y1: bottom, y2: bottom + 4 }),
            svg(
                "text",
                { class: "quiet", x: xOf(mark), y: bottom + 16, "text-anchor": "middle" },
                powerLabel(mark * 100)
            )
        );
    chart.append(
        svg("line", { class: "axis", x1: left, x2: width - right, y1: bottom, y2: bottom }),
        svg(
            "text",
            { class: "quiet", x: (left + width - right) / 2, y: bottom + 32, "text-anchor": "middle" },
            "\u03b8 " + sweepView.over + ", % of the time"
        )
    );
    curves.forEach((curve, i) => {
        const strength = 0.25 + 0.75 * (curves.length < 2 ? 1 : i / (curves.length - 1));
        chart.append(
            svg(
                "path",
                { class: "line", d: curvePath(curve.values, from, x, scale.y), style: { stroke: shade(strength) } },
                svg(
                    "title",
                    {},
                    "\u03b8 " +
                        (sweepView.over === "grain" ? "weight " : "grain ") +
                        formatThreshold(curve.threshold)
                )
            )
        );
    });
    if (budget >= scale.low && budget <= scale.high)
        chart.append(
            svg("line", {
                class: "line budget",
                x1: left,
                x2: width - right,
                y1: scale.y(budget),
                y2: scale.y(budget)
            }),
            svg("text", { class: "quiet", x: width - right + 5, y: scale.y(budget) + 4 }, "budget")
        );
    const at = sweepView.over === "grain" ? sweepView.grain : sweepView.weight;
    const other = sweepView.over === "grain" ? sweepView.weight : sweepView.grain,
        value = sweepAt(grid, at, other);
    if (at >= from) chart.append(svg("line", { class: "cursor", x1: x(at), x2: x(at), y1: top, y2: bottom }));
    if (value > 0 && at >= from)
        chart.append(
            svg("circle", {
                cx: x(at),
                cy: scale.y(value),
                r: 4.5,
                style: { fill: "var(--ink)", stroke: "var(--paper)" }
            })
        );
    chart.addEventListener("click", (event) => {
        const box = chart.getBoundingClientRect(),
            px = ((event.clientX - box.left) * width) / box.width;
        const wanted = 10 ** (logs[0] + ((px - left) / (width - left - right)) * (logs[1] - logs[0]));
        sweepView[sweepView.over] = nearest(along, wanted);
        sweepView.redraw();
    });
    return chart;
}

function curveLegend() {
    const curves = curvesOf(sweep.methods);
    return html(
        "ul",
        { class: "legend" },
        html("li", {}, "\u03b8 " + (sweepView.over === "grain" ? "weight:" : "grain:")),
        curves.map((curve, i) =>
            html(
                "li",
                {},
                html("span", {
                    class: "swatch",
                    style: { background: shade(0.25 + 0.75 * (curves.length < 2 ? 1 : i / (curves.length - 1))) }
                }),
                (curve.lowest === undefined ? "" : "up to ") + formatThreshold(curve.threshold)
            )
        )
    );
}

function saySelection() {
    const { weight: w, grain: g } = sweepView,
        estimate = (grid) => (grid[w][g] === null ? "an unknown share" : percent(grid[w][g]));
    byId("sweep-weight-text").textContent = formatThreshold(sweep.weights[w]);
    byId("sweep-grain-text").textContent = formatThreshold(sweep.grains[g]);
    byId("sweep-readout").replaceChildren(
        html("b", {}, plural(sweep.methods[w][g], "phase")),
        " with " +
            plural(sweep.calls[w][g], "call") +
            ": " +
            estimate(sweep.of_time) +
            " of the time" +
            (sweep.pair_ns === null ? "" : " at " + formatNs(sweep.pair_ns) + " a call") +
            ", " +
            estimate(sweep.of_calls) +
            " of all calls (the thesis' estimate). ",
        html(
            "code",
            {},
            "mmprof phases --weight " +
                Number((sweep.weights[w] * 100).toPrecision(3)) +
                "% --grain " +
                Number((sweep.grains[g] * 100).toPrecision(3)) +
                "%"
        )
    );
}

function slider(name, thresholds) {
    const id = "sweep-" + name;
    return [
        html("label", { for: id }, "\u03b8 " + name),
        html("input", {
            type: "range",
            id,
            min: 0,
            max: thresholds.length - 1,
            value: sweepView[name],
            "aria-describedby": "sweep-readout",
            oninput: (event) => {
                sweepView[name] = Number(event.target.value);
                sweepView.redraw();
            }
        }),
        html("output", { id: id + "-text", for: id })
    ];
}

/* The curves' figures, at powers of ten. */
function sweepTable() {
    const isPower = (t) => Math.abs(Math.log10(t) - Math.round(Math.log10(t))) < 1e-6;
    const at = (list) => list.map((t, i) => [t, i]).filter(([t]) => isPower(t));
    const estimates = sweep.of_time[0][0] === null ? sweep.of_calls : sweep.of_time;
    return html(
        "div",
        { class: "scroll" },
        html(
            "table",
            {},
            html(
                "thead",
                {},
                html(
                    "tr",
                    {},
                    html("th", { scope: "col" }, "\u03b8 weight \\ grain"),
                    at(sweep.grains).map(([t]) => html("th", { scope: "col" }, formatThreshold(t)))
                )
            ),
            html(
                "tbody",
                {},
                at(sweep.weights).map(([t, w]) =>
                    html(
                        "tr",
                        {},
                        html("th", { scope: "row" }, formatThreshold(t)),
                        at(sweep.grains).map(([, g]) =>
                            html(
                                "td",
                                {},
                                formatCount(sweep.methods[w][g]) +
                                    (estimates[w][g] === null ? "" : " \u00b7 " + percent(estimates[w][g]))
                            )
                        )
                    )
                )
            )
        )
    );
}

function overButton(name) {
    return html(
        "button",
        {
            type: "button",
            id: "over-" + name,
            "aria-pressed": String(sweepView.over === name),
            onclick: () => {
                sweepView.over = name;
                sweepView.redraw();
            }
        },
        "over \u03b8 " + name
    );
}

function sweepLead() {
    const chosen = sweep.chosen,
        of =
            "A phase has at least \u03b8 weight of the program\u2019s time in all its calls, and \u03b8 grain in each. ";
    if (!sweep.of_all)
        return (
            of +
            (data.about.info["recording.mode"] === "live"
                ? "This recording chose its methods meanwhile"
                : "This is a recording of methods that were selected before") +
            ": the plots are of " +
            plural(sweep.n_methods, "method") +
            " only" +
            (sweep.of_calls[0][0] === null ? ", and how many calls there are in all is not known" : "") +
            ". The report of a recording of all methods has all of them."
        );
    return (
        of +
        (chosen === null
            ? ""
            : "mmprof phases takes " +
              formatThreshold(chosen.weight) +
              " and " +
              formatThreshold(chosen.grain) +
              " by itself: " +
              plural(chosen.methods, "phase") +
              " of " +
              plural(sweep.n_methods, "method") +
              ", within a budget of " +
              percent(sweep.budget) +
              ".")
    );
}

function drawSweep() {
    const body = byId("selection-body"),
        lead = byId("selection-lead");
    if (sweep.why !== undefined || sweep.methods[0][0] === 0) {
        lead.textContent = "Not shown: " + (sweep.why ?? "no method was called") + ".";
        return;
    }
    const chosen = sweep.chosen ?? { weight: 0.01, grain: 0.0001 };
    sweepView.weight = nearest(sweep.weights, chosen.weight);
    sweepView.grain = nearest(sweep.grains, chosen.grain);
    lead.textContent = sweepLead();
    const hasCalls = sweep.of_calls[0][0] !== null,
        hasTime = sweep.of_time[0][0] !== null;
    const left = html("figure", {}),
        right = html("figure", {}),
        legend = html("div", {});
    body.replaceChildren(
        html("div", { class: "sliders" }, slider("weight", sweep.weights), slider("grain", sweep.grains)),
        html("p", { class: "readout", id: "sweep-readout", role: "status" }),
        html("div", { class: "controls" }, overButton("grain"), overButton("weight")),
        legend,
        html("div", { class: "pair" }, left, right),
        html(
            "details",
            {},
            html("summary", {}, "The same as a table: phases \u00b7 estimated overhead"),
            sweepTable()
        )
    );
    let width = 0;
    sweepView.redraw = () => {
        for (const name of ["weight", "grain"]) {
            byId("sweep-" + name).value = sweepView[name];
            byId("over-" + name).setAttribute("aria-pressed", String(sweepView.over === name));
        }
        legend.replaceChildren(curveLegend());
        left.replaceChildren(drawPlot(width, sweep.methods, "Number of phases", powerLabel));
        right.replaceChildren(
            hasTime
                ? drawPlot(
                      width,
                      sweep.of_time,
                      "Estimated overhead, % of the time",
                      (v) => powerLabel(v * 100),
                      sweep.budget
                  )
                : hasCalls
                  ? drawPlot(
                        width,
                        sweep.of_calls,
                        "Estimated overhead, % of all calls",
                        (v) => powerLabel(v * 100),
                        sweep.budget
                    )
                  : html(
                        "p",
                        { class: "quiet" },
                        "Overhead: not known, the trace has neither all calls nor the cost of a probe."
                    )
        );
        saySelection();
    };
    drawFitting(left, (now) => {
        width = now;
        sweepView.redraw();
    });
}
