/* What each pair of thresholds selects (thesis Figures 3.4 and 3.5). */

const sweep = data.sweep;
const sweepView = { weight: 0, grain: 0, over: "grain", redraw: () => {} };
const plot = { left: 52, right: 64, top: 26, bottom: 236 };

function otherAxis() {
    return sweepView.over === "grain" ? "weight" : "grain";
}

function thresholdsOf(name) {
    return name === "grain" ? sweep.grains : sweep.weights;
}

function nearest(thresholds, wanted) {
    const distance = (threshold) => Math.abs(Math.log(threshold / wanted));
    return thresholds.reduce((best, t, i) => (distance(t) < distance(thresholds[best]) ? i : best), 0);
}

/* A value of a cell: along is the axis' index, other that of the curve. */
function sweepAt(grid, along, other) {
    return sweepView.over === "grain" ? grid[other][along] : grid[along][other];
}

/* The curves: thresholds at powers of ten; those that select the same are one. */
function curvesOf(grid) {
    const curves = [];
    thresholdsOf(otherAxis()).forEach((threshold, i) => {
        const values = thresholdsOf(sweepView.over).map((_, along) => sweepAt(grid, along, i));
        const power = Math.log10(threshold),
            last = curves[curves.length - 1];
        if (Math.abs(power - Math.round(power)) > 1e-6 || values.every((value) => !(value > 0))) return;
        if (last !== undefined && last.values.every((value, k) => value === values[k])) {
            last.isMore = true;
            last.threshold = threshold;
        } else {
            curves.push({ threshold, values, isMore: false });
        }
    });
    return curves;
}

function curveColour(curves, i) {
    return shade(0.25 + 0.75 * (curves.length < 2 ? 1 : i / (curves.length - 1)));
}

/* Below some threshold all is selected: the axis begins a decade before the first change. */
function firstOfInterest() {
    const curves = curvesOf(sweep.methods);
    let at = 0;
    while (curves.length > 0 && curves.every((curve) => curve.values[at + 1] === curve.values[0])) at++;
    return Math.max(0, at - 5);
}

/* From values to y, in whole decades. */
function plotScale(values) {
    const positive = values.filter((value) => value > 0);
    const low = Math.floor(Math.log10(Math.min(...positive)) + 1e-9),
        high = Math.ceil(Math.log10(Math.max(...positive)) - 1e-9);
    const span = Math.max(1, high - low);
    const y = (v) => plot.bottom - (plot.bottom - plot.top) * ((Math.log10(v) - low) / span);
    return { low: 10 ** low, high: 10 ** (low + span), y };
}

/* The line ends where nothing is selected. */
function curvePath(values, from, x, y) {
    const points = values.map((value, i) => [i, value]).filter(([i, value]) => value > 0 && i >= from);
    return points.map(([i, value], n) => (n === 0 ? "M" : "L") + x(i).toFixed(1) + " " + y(value).toFixed(1)).join("");
}

function plotLine(name, x1, x2, y1, y2) {
    return svg("line", { class: name, x1, x2, y1, y2 });
}

function plotText(x, y, text, anchor) {
    return svg("text", { class: "quiet", x, y, "text-anchor": anchor ?? "start" }, text);
}

function plotAxes(width, scale, from, xOf, yLabel) {
    const along = thresholdsOf(sweepView.over),
        right = width - plot.right;
    const rows = decades(scale.low, scale.high, 7).flatMap((mark) => [
        plotLine("rule", plot.left, right, scale.y(mark), scale.y(mark)),
        plotText(plot.left - 6, scale.y(mark) + 4, yLabel(mark), "end")
    ]);
    const columns = decades(along[from], along[along.length - 1], Math.max(2, Math.floor(width / 70))).flatMap(
        (mark) => [
            plotLine("axis", xOf(mark), xOf(mark), plot.bottom, plot.bottom + 4),
            plotText(xOf(mark), plot.bottom + 16, powerLabel(mark * 100), "middle")
        ]
    );
    const title = "\u03b8 " + sweepView.over + ", % of the time";
    return [
        ...rows,
        ...columns,
        plotLine("axis", plot.left, right, plot.bottom, plot.bottom),
        plotText((plot.left + right) / 2, plot.bottom + 32, title, "middle")
    ];
}

/* Where the sliders are. */
function plotCursor(grid, from, x, y) {
    const at = sweepView[sweepView.over],
        value = sweepAt(grid, at, sweepView[otherAxis()]);
    const style = { fill: "var(--ink)", stroke: "var(--paper)" };
    if (at < from) return [];
    const line = plotLine("cursor", x(at), x(at), plot.top, plot.bottom);
    return value > 0 ? [line, svg("circle", { cx: x(at), cy: y(value), r: 4.5, style })] : [line];
}

function drawPlot(width, grid, title, yLabel, budget) {
    const along = thresholdsOf(sweepView.over),
        curves = curvesOf(grid),
        from = firstOfInterest(),
        room = width - plot.left - plot.right;
    const first = Math.log10(along[from]),
        span = Math.log10(along[along.length - 1]) - first;
    const xOf = (threshold) => plot.left + ((Math.log10(threshold) - first) / span) * room;
    const x = (i) => xOf(along[i]),
        scale = plotScale(curves.flatMap((curve) => curve.values));
    const chart = svg("svg", { viewBox: "0 0 " + width + " " + (plot.bottom + 40), role: "img", "aria-label": title });
    chart.append(svg("text", { x: plot.left, y: 12 }, title), ...plotAxes(width, scale, from, xOf, yLabel));
    curves.forEach((curve, i) => {
        const name = "\u03b8 " + otherAxis() + " " + formatThreshold(curve.threshold);
        const style = { stroke: curveColour(curves, i) };
        const d = curvePath(curve.values, from, x, scale.y);
        chart.append(svg("path", { class: "line", d, style }, svg("title", {}, name)));
    });
    if (budget >= scale.low && budget <= scale.high)
        chart.append(
            plotLine("line budget", plot.left, width - plot.right, scale.y(budget), scale.y(budget)),
            plotText(width - plot.right + 5, scale.y(budget) + 4, "budget")
        );
    chart.append(...plotCursor(grid, from, x, scale.y));
    chart.addEventListener("click", (event) => {
        const box = chart.getBoundingClientRect(),
            px = ((event.clientX - box.left) * width) / box.width;
        sweepView[sweepView.over] = nearest(along, 10 ** (first + ((px - plot.left) / room) * span));
        sweepView.redraw();
    });
    return chart;
}

function curveLegend() {
    const curves = curvesOf(sweep.methods);
    const items = curves.map((curve, i) => {
        const swatch = html("span", { class: "swatch", style: { background: curveColour(curves, i) } });
        return html("li", {}, swatch, (curve.isMore ? "up to " : "") + formatThreshold(curve.threshold));
    });
    return html("ul", { class: "legend" }, html("li", {}, "\u03b8 " + otherAxis() + ":"), items);
}

function saySelection() {
    const { weight: w, grain: g } = sweepView,
        estimate = (grid) => (grid[w][g] === null ? "an unknown share" : percent(grid[w][g])),
        option = (threshold) => Number((threshold * 100).toPrecision(3)) + "%";
    const cost = sweep.pair_ns === null ? "" : " at " + formatNs(sweep.pair_ns) + " a call";
    const command = "mmprof phases --weight " + option(sweep.weights[w]) + " --grain " + option(sweep.grains[g]);
    byId("sweep-weight-text").textContent = formatThreshold(sweep.weights[w]);
    byId("sweep-grain-text").textContent = formatThreshold(sweep.grains[g]);
    byId("sweep-readout").replaceChildren(
        html("b", {}, plural(sweep.methods[w][g], "phase")),
        " with " + plural(sweep.calls[w][g], "call") + ": " + estimate(sweep.of_time) + " of the time" + cost,
        ", " + estimate(sweep.of_calls) + " of all calls (the thesis' estimate). ",
        html("code", {}, command)
    );
}

function slider(name) {
    const id = "sweep-" + name;
    const oninput = (event) => {
        sweepView[name] = Number(event.target.value);
        sweepView.redraw();
    };
    const range = { type: "range", id, min: 0, max: thresholdsOf(name).length - 1, oninput };
    return [
        html("label", { for: id }, "\u03b8 " + name),
        html("input", { ...range, value: sweepView[name], "aria-describedby": "sweep-readout" }),
        html("output", { id: id + "-text", for: id })
    ];
}

function overButton(name) {
    const onclick = () => {
        sweepView.over = name;
        sweepView.redraw();
    };
    return html("button", { type: "button", id: "over-" + name, onclick }, "over \u03b8 " + name);
}

function sweepLead() {
    const chosen = sweep.chosen,
        of = "A phase has at least \u03b8 weight of the program\u2019s time in all its calls, and \u03b8 grain in each. ";
    if (sweep.of_all && chosen === null) return of;
    if (sweep.of_all)
        return (
            of +
            `mmprof phases takes ${formatThreshold(chosen.weight)} and ${formatThreshold(chosen.grain)} by itself: ` +
            `${plural(chosen.methods, "phase")} of ${plural(sweep.n_methods, "method")}, ` +
            `within a budget of ${percent(sweep.budget)}.`
        );
    const kind =
        data.about.info["recording.mode"] === "live"
            ? "This recording chose its methods meanwhile"
            : "This is a recording of methods that were selected before";
    const unknownCalls = sweep.of_calls[0][0] === null ? ", and how many calls there are in all is not known" : "";
    return (
        of +
        `${kind}: the plots are of ${plural(sweep.n_methods, "method")} only${unknownCalls}. ` +
        "The report of a recording of all methods has all of them."
    );
}

/* The estimate that there is: of the time, else the thesis'. */
function drawOverhead(width) {
    const label = (v) => powerLabel(v * 100);
    if (sweep.of_time[0][0] !== null)
        return drawPlot(width, sweep.of_time, "Estimated overhead, % of the time", label, sweep.budget);
    if (sweep.of_calls[0][0] !== null)
        return drawPlot(width, sweep.of_calls, "Estimated overhead, % of all calls", label, sweep.budget);
    const why = "Overhead: not known, the trace has neither all calls nor the cost of a probe.";
    return html("p", { class: "quiet" }, why);
}

function drawSweep() {
    const lead = byId("selection-lead");
    if (sweep.why !== undefined || sweep.methods[0][0] === 0) {
        lead.textContent = "Not shown: " + (sweep.why ?? "no method was called") + ".";
        return;
    }
    const chosen = sweep.chosen ?? { weight: 0.01, grain: 0.0001 };
    const left = html("figure", {}),
        right = html("figure", {}),
        legend = html("div", {});
    sweepView.weight = nearest(sweep.weights, chosen.weight);
    sweepView.grain = nearest(sweep.grains, chosen.grain);
    lead.textContent = sweepLead();
    byId("selection-body").replaceChildren(
        html("div", { class: "sliders" }, slider("weight"), slider("grain")),
        html("p", { class: "readout", id: "sweep-readout", role: "status" }),
        html("div", { class: "controls" }, overButton("grain"), overButton("weight")),
        legend,
        html("div", { class: "pair" }, left, right)
    );
    let width = 0;
    sweepView.redraw = () => {
        for (const name of ["weight", "grain"]) {
            byId("sweep-" + name).value = sweepView[name];
            byId("over-" + name).setAttribute("aria-pressed", String(sweepView.over === name));
        }
        legend.replaceChildren(curveLegend());
        left.replaceChildren(drawPlot(width, sweep.methods, "Number of phases", powerLabel));
        right.replaceChildren(drawOverhead(width));
        saySelection();
    };
    drawFitting(left, (now) => {
        width = now;
        sweepView.redraw();
    });
}
