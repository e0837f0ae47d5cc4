/* A span of the time line that all tables and the flame graph are of, once one is selected. */

/*
 * What is known of a span: time of contexts (data.tree.steps, on the page's clock), of the parts of the JVM (the time
 * line's own steps), and collections.  All else was added up over the whole recording: it is "-" then, and says why.
 */
const span = {
    range: null /* {from, to}: steps, to is not in it; null: all of the recording */,
    own: null /* of the call tree's nodes, ns */,
    all: null,
    parts: new Map() /* ns by part of the JVM */,
    whole: 0
};

const whyNotInSpan = "not known of a span of time: it was added up over the whole recording";

function canSelectSpan() {
    return hasLine() && data.tree.steps !== undefined && data.tree.steps.node.length > 0;
}

function spanStart() {
    return span.range.from * line.step_ns;
}

function spanEnd() {
    return Math.min(line.end_ns, span.range.to * line.step_ns);
}

/* A moment, with as many digits as steps have. */
function momentText(ns) {
    const digits = Math.min(6, Math.max(0, Math.ceil(-Math.log10(line.step_ns / 1e9))));
    return (ns / 1e9).toFixed(digits) + "\u00a0s";
}

function spanText() {
    return momentText(spanStart()) + " to " + momentText(spanEnd());
}

/* The longest steps that any tree has; each is twice as long as the next shorter one. */
function spanGrain() {
    return largest([data.tree, ...data.graphs.map(treeOfGraph)].map((tree) => tree.steps?.grain ?? 1));
}

/* Between whole steps, as the data have them: at least one. */
function roundSpan(a, b) {
    const grain = spanGrain(),
        from = Math.max(0, Math.floor(Math.min(a, b) / grain) * grain);
    const to = Math.min(line.steps, Math.ceil((Math.max(a, b) + 1) / grain) * grain);
    return { from: Math.min(from, line.steps - 1), to };
}

/* ---- figures ---- */

function sumPartsOfSpan() {
    span.parts = new Map();
    for (const part of line.parts) {
        let ns = 0;
        for (let i = span.range.from; i < span.range.to; i++)
            ns += part.cpus[i] * Math.min(line.step_ns, line.end_ns - i * line.step_ns);
        span.parts.set(part.key, ns);
    }
}

/* What contexts of a tree have in the span; in a call tree the roots of other threads what the time line says of them. */
function treeInSpan(tree) {
    const { step, node, amount, unit } = tree.steps,
        n = tree.parent.length,
        own = new Array(n).fill(0);
    let sum = 0;
    step.forEach((at, i) => {
        if (at < span.range.from || at >= span.range.to) return;
        own[node[i]] += amount[i] * unit;
        sum += amount[i] * unit;
    });
    tree.parent.forEach((parent, i) => {
        const part = tree.kinds[tree.name[i]];
        if (tree.clock !== undefined && parent < 0 && part !== "application") own[i] = span.parts.get(part) ?? 0;
    });
    const all = own.slice();
    for (let i = n - 1; i >= 0; i--) if (tree.parent[i] >= 0) all[tree.parent[i]] += all[i];
    return { own, all, sum };
}

function sumContextsOfSpan() {
    const { own, all, sum } = treeInSpan(data.tree);
    Object.assign(span, { own, all });
    span.parts.set("application", sum);
}

/* By a row's key: what its method has without the other rows, and with all it calls. */
function rowsOfSpan() {
    const keys = new Set(data.phases.rows.filter(isMethodRow).map(rowKey)),
        { tree } = data;
    const rows = new Map([...keys].map((key) => [key, { self: 0, time: 0 }]));
    let outside = 0;
    tree.parent.forEach((_, i) => {
        if (span.own[i] === 0) return;
        const seen = new Set();
        let isGiven = false,
            isOfApplication = false;
        for (let at = i; at >= 0; at = tree.parent[at]) {
            const row = rows.get(tree.keys[tree.name[at]]);
            isOfApplication = tree.parent[at] < 0 && tree.kinds[tree.name[at]] === "application";
            if (row === undefined || seen.has(row)) continue;
            seen.add(row);
            if (!isGiven) row.self += span.own[i];
            row.time += span.own[i];
            isGiven = true;
        }
        if (!isGiven && isOfApplication) outside += span.own[i];
    });
    return { rows, outside };
}

function numberCell(number, format) {
    return [format(number), number];
}

/* Of a row of phases: {time, self} in ns; undefined: it is not known. */
function timesOfRow(row, { rows, outside }) {
    if (isMethodRow(row)) return rows.get(rowKey(row));
    if (row.kind === "application") return { self: outside, time: outside };
    if (row.kind === "total") return { self: span.whole, time: null };
    const ns = span.parts.get(row.kind);
    return ns === undefined ? undefined : { self: ns, time: ns };
}

function phasesInSpan() {
    const found = rowsOfSpan();
    const cellOf = (column, cell, times) => {
        if (column.unit === "text" && !/^(recorded|known)/.test(column.key)) return cell;
        const number = { time_share: times?.time, self_share: times?.self, total_ns: times?.time, self_ns: times?.self }[
            column.key
        ];
        if (number === null && column.key.endsWith("share")) return "n/a";
        if (number === null || number === undefined) return unknown;
        return column.unit === "ns"
            ? numberCell(number, formatNs)
            : numberCell(span.whole > 0 ? number / span.whole : 0, formatPercent);
    };
    return {
        ...data.phases,
        rows: data.phases.rows.map((row) => {
            const times = timesOfRow(row, found);
            return { ...row, cells: data.phases.columns.map((column, c) => cellOf(column, row.cells[c], times)) };
        })
    };
}

/* Of the parts' shares: the first row is CPU time, all else was not counted by step. */
function partsInSpan() {
    return {
        ...data.parts,
        rows: data.parts.rows.map((row, r) => ({
            ...row,
            cells: data.parts.columns.map((column, c) => {
                if (c === 0) return row.cells[c];
                const ns = r === 0 ? span.parts.get(column.key) : undefined;
                return ns === undefined ? unknown : numberCell(span.whole > 0 ? ns / span.whole : 0, formatPercent);
            })
        }))
    };
}

/* A table of the data as it is of the span: figures that are not known of it are not there. */
function inSpan(table) {
    if (span.range === null || table === undefined || table.columns === undefined) return table;
    if (table === data.phases) return phasesInSpan();
    if (table === data.parts) return partsInSpan();
    return {
        ...table,
        rows: table.rows.map((row) => ({
            ...row,
            cells: row.cells.map((cell, c) => (table.columns[c].unit === "text" && c === 0 ? cell : unknown))
        }))
    };
}

/* For the head of a section. */
function spanNote(isKnown) {
    if (span.range === null) return "";
    return isKnown
        ? "Of the span from " + spanText() + " only. "
        : "Not known of the span from " + spanText() + ": this was added up over the whole recording. ";
}

/* ---- selecting ---- */

function saySpan() {
    const bar = byId("span-bar");
    bar.hidden = span.range === null;
    if (span.range === null) return;
    bar.replaceChildren(
        html("span", {}, "Only ", html("b", {}, spanText()), " of " + momentText(line.end_ns) + ". "),
        html("button", { type: "button", class: "link", id: "span-reset", onclick: () => selectSpan(null) }, "Show all")
    );
}

/* {from, to} of steps, or null. */
function selectSpan(range) {
    span.range = range;
    if (range !== null) {
        sumPartsOfSpan();
        sumContextsOfSpan();
        span.whole = [...span.parts.values()].reduce((sum, ns) => sum + ns, 0);
    }
    saySpan();
    lineView.mark(range);
    for (const draw of [drawSummary, drawPhases, drawRegionTable, drawParts, drawPlaces, drawValues, drawLiveObjects, drawTreeAgain, fitAll]) draw();
}

/* ---- on the time line's chart ---- */

/*
 * By dragging, or by Shift and the arrow keys; Escape selects all.
 *
 * x(step)        where it begins
 * stepOf(event)  that a pointer is over
 * go(step)       moves the cursor
 */
function letSelect(chart, { x, height, stepOf, go }) {
    const mark = svg("rect", { class: "span", y: 20, height: Math.max(0, height - 18), visibility: "hidden" });
    let start = null /* of a drag */,
        anchor = null; /* of the keyboard's */
    chart.append(mark);
    lineView.mark = (range) => {
        mark.setAttribute("visibility", range === null ? "hidden" : "visible");
        if (range === null) return;
        mark.setAttribute("x", x(range.from));
        mark.setAttribute("width", Math.max(1, x(range.to) - x(range.from)));
    };
    lineView.mark(span.range);
    if (!canSelectSpan()) return;
    chart.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        start = stepOf(event);
        chart.setPointerCapture(event.pointerId);
    });
    chart.addEventListener("pointermove", (event) => {
        if (start !== null && stepOf(event) !== start) lineView.mark(roundSpan(start, stepOf(event)));
    });
    chart.addEventListener("pointerup", (event) => {
        const end = stepOf(event);
        if (start !== null && end !== start) selectSpan(roundSpan(start, end));
        start = null;
    });
    chart.addEventListener("pointercancel", () => {
        start = null;
        lineView.mark(span.range);
    });
    chart.addEventListener("keydown", (event) => {
        const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -line.steps / 20, PageDown: line.steps / 20 }[event.key];
        if (event.key === "Escape" && span.range !== null) {
            anchor = null;
            selectSpan(null);
        } else if (event.shiftKey && by !== undefined) {
            anchor ??= lineView.step;
            go(Math.round(lineView.step + by * (Math.abs(by) === 1 ? spanGrain() : 1)));
            selectSpan(roundSpan(anchor, lineView.step));
        } else {
            anchor = event.key === "Shift" ? anchor : null;
            return;
        }
        event.preventDefault();
    });
}
