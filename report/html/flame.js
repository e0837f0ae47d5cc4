/* The flame graph, callers above callees: what its widths mean is chosen; search, zoom, keyboard. */

const framePitch = 19,
    narrowest = 1.2; /* pixels: what is smaller is drawn together */

const flame = {
    graph: null,
    top: null /* the frame drawn over the whole width; null: all roots */,
    current: null /* the frame under the pointer or the keyboard */,
    items: [] /* what is drawn: {frame, x, w, depth}; frame.others: so many smaller ones */,
    pattern: null /* a RegExp; what it matches is marked */,
    colourBy: "kind",
    width: 0,
    highestCpi: 0
};

/* ---- where frames are ---- */

/* What is too small to be seen, or to be in the data, together. */
function others(parent, frames, all) {
    const n = frames.length;
    return {
        index: (parent === null ? "top" : parent.index) + "-others",
        parent,
        children: [],
        name: n === 0 ? "smaller ones, not in this page" : plural(n, "smaller one"),
        short: "\u2026",
        key: "",
        kind: "others",
        all,
        own: 0,
        rest: 0,
        node: null
    };
}

function placeFrames(width) {
    const items = [],
        tops = flame.top === null ? rootsOfGraph(flame.graph) : [flame.top];
    const whole = tops.reduce((sum, frame) => sum + frame.all, 0) || 1,
        scale = width / whole;
    const putRow = (parent, frames, x, depth, rest) => {
        let at = x;
        const small = [];
        for (const frame of frames) {
            if (frame.all * scale < narrowest) {
                small.push(frame);
                continue;
            }
            items.push({ frame, x: at, w: frame.all * scale, depth });
            putRow(frame, frame.children, at, depth + 1, frame.rest);
            at += frame.all * scale;
        }
        const left = small.reduce((sum, frame) => sum + frame.all, rest);
        if (left * scale >= narrowest)
            items.push({ frame: others(parent, small, left), x: at, w: left * scale, depth });
    };
    putRow(null, tops, 0, 0, 0);
    return items;
}

/* ---- colours ---- */

/* 0..1: the frame's own part of it, or its CPI next to the others'. */
function strengthOf(frame) {
    if (flame.colourBy === "own") return frame.all > 0 ? (frame.own + frame.rest) / frame.all : 0;
    const cpi = frame.node === null ? null : cpiOf(frame.node);
    return cpi === null ? 0 : Math.min(1, cpi / (flame.highestCpi || 1));
}

/* A frame's fill, and the colour of what is written on it. */
function coloursOf(frame) {
    if (frame.kind === "others") return ["var(--wash)", "var(--ink)"];
    if (flame.pattern !== null)
        return isMatch(frame) ? ["var(--match)", "var(--on-match)"] : ["var(--wash)", "var(--quiet)"];
    if (data.diff !== undefined) return changeColours(frame);
    if (flame.colourBy === "kind") return ["var(--frame-" + frame.kind + ")", "var(--on-frame)"];
    const strength = strengthOf(frame);
    return [shade(strength), inkOn(strength)];
}

/* ---- search ---- */

function isMatch(frame) {
    return frame.kind !== "others" && flame.pattern.test(frame.name);
}

/* Of a text or, where asked for, of a regular expression; null: nothing is searched for. */
function patternOf(text, isRegular) {
    return text === "" ? null : new RegExp(isRegular ? text : text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
}

/* What matches, with all it calls: a frame within another one that matches counts once. */
function sumOfMatches() {
    const names = new Set();
    const sumOf = (frames, isWithin) =>
        frames.reduce((sum, frame) => {
            const matches = isMatch(frame);
            if (matches) names.add(frame.name);
            return sum + (matches && !isWithin ? frame.all : 0) + sumOf(frame.children, isWithin || matches);
        }, 0);
    const all = sumOf(rootsOfGraph(flame.graph), false);
    return { all, n: names.size };
}

function sayMatches() {
    const said = byId("flame-found");
    if (flame.pattern === null) {
        said.textContent = "";
        return;
    }
    const { all, n } = sumOfMatches();
    said.textContent =
        n === 0
            ? "no frame matches"
            : plural(n, "name") + ", " + percent(all / flame.graph.whole) + " of " + lowerFirst(graphLabel(flame.graph));
}

function search() {
    const input = byId("flame-search");
    let error = "";
    try {
        flame.pattern = patternOf(input.value, byId("flame-regular").checked);
    } catch {
        flame.pattern = null;
        error = "not a regular expression: \u201c" + input.value + "\u201d";
    }
    input.setAttribute("aria-invalid", String(error !== ""));
    drawFlame();
    if (error !== "") byId("flame-found").textContent = error;
}

/* ---- figures ---- */

function figuresOf(frame) {
    const { graph } = flame,
        shareOf = (number) =>
            formatOf(graph, number) + (graph.unit === "share" ? "" : ", " + percent(number / graph.whole));
    const node = graph.value === data.tree.clock ? frame.node : null,
        calls = node === null ? null : callsOf(node);
    if (data.diff !== undefined && frame.kind !== "others") return changeFigures(frame);
    return [
        [graphLabel(graph), shareOf(frame.all) + (node === null ? "" : (intervalOf(node) && " " + intervalOf(node)))],
        frame.kind === "others" ? null : ["Self", shareOf(frame.own)],
        frame.rest > 1e-4 * frame.all ? ["Smaller ones, not in this page", formatOf(graph, frame.rest)] : null,
        calls === null ? null : ["Calls", calls > 0 ? formatCount(calls) : unknown],
        calls > 0 ? ["Time/call", formatNs(probeTime(node) / calls)] : null,
        node !== null && data.tree.sampled ? ["Known by", knownBy(node)] : null,
        node === null || treeCycles === undefined ? null : ["CPI", formatRatio(cpiOf(node))],
        ...(node === null || keyOf(node) === "" ? [] : missesOf(node))
    ].filter(Boolean);
}

function sayFrame(frame) {
    byId("flame-readout").replaceChildren(html("p", { class: "name" }, frame.name), inlineList(figuresOf(frame)));
}

/* ---- moving ---- */

function frameId(frame) {
    return "frame-" + frame.index;
}

function itemOf(frame) {
    return flame.items.find((item) => item.frame.index === frame.index);
}

function makeCurrent(frame, takeFocus) {
    const chart = byId("flame");
    chart.querySelector("g.is-current")?.classList.remove("is-current");
    flame.current = frame;
    sayFrame(frame);
    const g = byId(frameId(frame));
    if (g === null) return;
    g.classList.add("is-current");
    chart.querySelectorAll("g[tabindex='0']").forEach((other) => other.setAttribute("tabindex", -1));
    g.setAttribute("tabindex", 0);
    if (takeFocus) g.focus({ preventScroll: false });
}

function zoom(frame) {
    if (frame !== null && frame.kind === "others") return;
    flame.top = frame;
    drawFlame();
    makeCurrent(frame ?? flame.items[0].frame, true);
}

function reset() {
    zoom(null);
}

/* The frame drawn beside another one at its depth, by -1 to the left. */
function beside(frame, by) {
    const depth = itemOf(frame)?.depth;
    const row = flame.items.filter((item) => item.depth === depth).sort((a, b) => a.x - b.x);
    return row[row.findIndex((item) => item.frame.index === frame.index) + by]?.frame;
}

function firstBelow(frame) {
    const at = itemOf(frame);
    return flame.items.find((item) => item.depth === at.depth + 1 && item.frame.parent === frame)?.frame;
}

function flameKey(event) {
    const frame = flame.current;
    if (frame === null || event.ctrlKey || event.altKey || event.metaKey) return;
    const moves = {
        ArrowDown: () => firstBelow(frame),
        ArrowUp: () => (frame === flame.top ? undefined : frame.parent),
        ArrowRight: () => beside(frame, 1),
        ArrowLeft: () => beside(frame, -1),
        Home: () => flame.items[0].frame,
        End: () => flame.items.reduce((deepest, item) => (item.depth > deepest.depth ? item : deepest)).frame
    };
    if (event.key === "Enter" || event.key === " ") zoom(frame === flame.top ? frame.parent : frame);
    else if (event.key === "Escape") reset();
    else if (moves[event.key] === undefined) return;
    else {
        const next = moves[event.key]();
        if (next && itemOf(next) !== undefined) makeCurrent(next, true);
    }
    event.preventDefault();
}

function frameOfEvent(event) {
    const g = event.target.closest("g[role='treeitem']");
    return g === null ? null : flame.items.find((item) => frameId(item.frame) === g.id).frame;
}

/* ---- drawing ---- */

function box(item) {
    const { frame, x, w, depth } = item,
        [fill, ink] = coloursOf(frame),
        text = cut(frame.short, w);
    const y = depth * framePitch;
    return svg(
        "g",
        {
            role: "treeitem",
            tabindex: -1,
            "aria-level": depth + 1,
            id: frameId(frame),
            class: "is-" + frame.kind + (w < 12 ? " is-narrow" : "")
        },
        svg("title", {}, frame.name + "\n" + figuresOf(frame).map((pair) => pair.join(": ")).join("\n")),
        svg("rect", {
            x: (x + 0.5).toFixed(2),
            y: y + 1,
            width: Math.max(0.7, w - 1).toFixed(2),
            height: framePitch - 2,
            style: { fill }
        }),
        text === ""
            ? null
            : svg("text", { "aria-hidden": "true", x: (x + 4).toFixed(2), y: y + 14, style: { fill: ink } }, text)
    );
}

function flameChart(depth) {
    return svg("svg", {
        viewBox: "0 0 " + flame.width + " " + ((depth + 1) * framePitch + 2),
        role: "tree",
        "aria-label":
            "Flame graph by " + lowerFirst(graphLabel(flame.graph)) +
            ", callers above callees. Arrow keys move, Enter enlarges, Escape shows all",
        onkeydown: flameKey,
        onpointerover: (event) => {
            const frame = frameOfEvent(event);
            if (frame !== null) makeCurrent(frame, false);
        },
        onclick: (event) => {
            const frame = frameOfEvent(event);
            if (frame !== null) zoom(frame === flame.top ? frame.parent : frame);
        },
        onfocusin: (event) => {
            const frame = frameOfEvent(event);
            if (frame !== null && frame.index !== flame.current?.index) makeCurrent(frame, false);
        }
    });
}

function drawFlame() {
    if (flame.width === 0) return;
    flame.items = placeFrames(flame.width);
    flame.highestCpi = largest(flame.items.map(({ frame }) => (frame.node === null ? 0 : (cpiOf(frame.node) ?? 0))));
    const chart = flameChart(flame.items.reduce((most, item) => Math.max(most, item.depth), 0));
    chart.append(...flame.items.map(box));
    byId("flame").replaceChildren(chart);
    byId("flame-reset").disabled = flame.top === null;
    sayMatches();
    const current = flame.current !== null ? itemOf(flame.current)?.frame : undefined;
    if (flame.items.length === 0) byId("flame-readout").textContent = "Nothing ran.";
    if (flame.items.length > 0) makeCurrent(current ?? flame.items[0].frame, false);
}

/* ---- the switch, and what stands around ---- */

function sayGraph() {
    const { graph } = flame,
        tree = treeOfGraph(graph),
        nDrawn = tree.parent.length;
    byId("flame-about").textContent =
        "Widths are " + lowerFirst(graphLabel(graph)) + " (" + graph.about + "), " + formatOf(graph, graph.whole) + " in all. " +
        (nDrawn < tree.contexts
            ? "In this page are " + formatCount(nDrawn) + " of " + plural(tree.contexts, "calling context") +
              ": those with at least " + percent(tree.least_share) + "; the others are drawn together."
            : "");
    const kinds = new Set();
    const add = (frames) => frames.forEach((frame) => (kinds.add(frame.kind), add(frame.children)));
    add(rootsOfGraph(graph));
    if (data.diff !== undefined) {
        byId("flame-legend").replaceChildren(...changeLegend());
        return;
    }
    byId("flame-legend").replaceChildren(
        ...Object.entries(frameKinds)
            .filter(([kind]) => kinds.has(kind))
            .map(([kind, text]) => html("li", {}, html("span", { class: "swatch frame is-" + kind }), text))
    );
}

function showGraph(key) {
    const graph = data.graphs.find((other) => other.key === key),
        sameAs = (frame) => (frame === null ? null : sameFrame(graph, frame));
    const top = sameAs(flame.top),
        current = sameAs(flame.current);
    const roots = rootsOfGraph(graph),
        isFirst = flame.graph === null;
    flame.graph = graph;
    flame.top = top;
    if (isFirst && roots.length > 1 && roots[0].children.length > 0) flame.top = roots[0];
    flame.current = current;
    sayGraph();
    drawFlame();
}

function option(value, text) {
    return html("option", { value }, text);
}

function widthSwitch() {
    const graphs = graphsWithNumbers();
    if (graphs.length < 2) return null;
    return html(
        "label",
        {},
        "Widths",
        html(
            "select",
            { id: "flame-widths", onchange: (event) => showGraph(event.target.value) },
            graphs.map((graph) => html("option", { value: graph.key }, graphLabel(graph)))
        )
    );
}

function colourSwitch() {
    return html(
        "label",
        {},
        "Colour by",
        html(
            "select",
            {
                id: "flame-colour",
                onchange: (event) => {
                    flame.colourBy = event.target.value;
                    drawFlame();
                }
            },
            option("kind", "kind of code"),
            option("own", "own share"),
            treeCycles === undefined ? null : option("cpi", "CPI")
        )
    );
}

function flameControls() {
    return html(
        "div",
        { class: "controls" },
        widthSwitch(),
        data.diff !== undefined ? null : colourSwitch(),
        html(
            "label",
            {},
            "Search",
            html("input", { type: "search", id: "flame-search", placeholder: "part of a name", oninput: search })
        ),
        html(
            "label",
            { class: "check" },
            html("input", { type: "checkbox", id: "flame-regular", onchange: search }),
            "regular expression"
        ),
        html("button", { type: "button", class: "link", id: "flame-reset", onclick: reset }, "Reset zoom"),
        html("span", { id: "flame-found", class: "quiet", role: "status" })
    );
}

/* Of another span of time; what is not known of it cannot be chosen. */
function drawFlameAgain() {
    data.graphs.forEach((graph) => (graph.roots = undefined));
    const isShown = (graph) => span.range === null || isKnownInSpan(graph);
    for (const choice of byId("flame-widths")?.options ?? []) {
        const graph = data.graphs.find((other) => other.key === choice.value);
        choice.disabled = !isShown(graph);
        choice.textContent = graphLabel(graph) + (isShown(graph) ? "" : ": not known of a span");
    }
    const graph = isShown(flame.graph) ? flame.graph : data.graphs[0];
    if (byId("flame-widths") !== null) byId("flame-widths").value = graph.key;
    showGraph(graph.key);
}

/* From a table: enlarge the frame of a method with most of what the widths mean.  Returns whether there is one. */
function showMethod(key) {
    let found = null;
    const look = (frames) =>
        frames.forEach((frame) => {
            if (frame.key === key && (found === null || frame.all > found.all)) found = frame;
            look(frame.children);
        });
    look(rootsOfGraph(flame.graph));
    if (found !== null) zoom(found);
    return found !== null;
}

/* Into an element. */
function drawFlameGraph(body) {
    body.replaceChildren(
        html("p", { class: "quiet", id: "flame-about" }),
        flameControls(),
        html("ul", { class: "legend", id: "flame-legend" }),
        html("div", { class: "readout", id: "flame-readout" }),
        html("div", { class: "flame", id: "flame" })
    );
    showGraph(data.graphs[0].key);
    drawFitting(byId("flame"), (width) => {
        flame.width = width;
        drawFlame();
    });
}
