/* The call tree: what is known of its contexts, and what stands around flame.js and calls.js. */

const callTree = {
    value: null /* whose width is drawn: the clock's */,
    nodes: [] /* {index, parent, children, depth} */,
    roots: [],
    open: new Set() /* in the table */,
    whole: new Set() /* of the open ones: with small callees, too */,
    show: () => {}
};

function treeValue(name) {
    return data.tree.values.find((value) => value.name === name);
}

function buildTree() {
    const tree = data.tree;
    callTree.value = treeValue(tree.clock);
    callTree.nodes = tree.parent.map((parent, index) => ({ index, parent: null, children: [], depth: 0 }));
    for (const node of callTree.nodes) {
        const parent = tree.parent[node.index];
        if (parent < 0) {
            callTree.roots.push(node);
            continue;
        }
        node.parent = callTree.nodes[parent];
        node.depth = node.parent.depth + 1;
        node.parent.children.push(node);
    }
    const largestFirst = (a, b) => all(b) - all(a);
    callTree.nodes.forEach((node) => node.children.sort(largestFirst));
    /* The application is the first root that the trace has; the VM's threads stand behind it. */
    callTree.roots = callTree.roots
        .filter((node) => all(node) > 0)
        .sort((a, b) => (nameOf(b) === "application") - (nameOf(a) === "application") || largestFirst(a, b));
}

/* ---- what is known of a node ---- */

function all(node, value = callTree.value) {
    return value.all[node.index];
}

function own(node, value = callTree.value) {
    return value.own[node.index];
}

/* 100 %, as in the table of phases: the probes' and the kernel's time are in it, but in no context. */
function wholeTime() {
    const total = data.phases.rows.find((row) => row.kind === "total");
    if (span.range !== null) return span.whole;
    return valueOf(data.phases, total, "self_ns") || callTree.roots.reduce((sum, node) => sum + all(node), 0);
}

/* Widths add up, so they are of all the time: also those of methods that had probes for a part of it. */
function partlyNote() {
    const isPartly = data.phases.rows.some((row) => (valueOf(data.phases, row, "recorded_share") ?? 1) < 0.9);
    return isPartly && !data.tree.sampled
        ? " Here shares are of the whole time; in the table of phases they are of the time in which each was recorded."
        : "";
}

function nameOf(node) {
    return data.tree.names[data.tree.name[node.index]];
}

function keyOf(node) {
    return data.tree.keys[data.tree.name[node.index]];
}

/* Short names that several methods have keep their parameters. */
function namesakes() {
    const keys = new Map();
    data.tree.names.forEach((name, i) => {
        const short = shortName(name.replace(sampledMark, ""));
        keys.set(short, (keys.get(short) ?? new Set()).add(data.tree.keys[i]));
    });
    return new Set([...keys].filter(([, of]) => of.size > 1).map(([short]) => short));
}

/* Methods that had no probes: report/sampled_tree.h. */
const sampledMark = " [sampled]";

/* What probes measured of a context. */
function probeTime(node) {
    return data.tree.probe_ns === undefined ? all(node) : data.tree.probe_ns[node.index];
}

/* As the table of --view tree has it. */
function knownBy(node) {
    return data.tree.known_by === undefined ? "probes" : data.tree.known_by[node.index];
}

/* "probes", "samples", "both"; "kernel" of a root. */
function knownKind(node) {
    if (keyOf(node) === "") return "kernel";
    const words = knownBy(node);
    return words === "probes" ? "probes" : words.startsWith("probes") ? "both" : "samples";
}

/* Half of the interval of a context's share, as "\u00b11.23"; "" where it is measured, or not known. */
function intervalOf(node) {
    const error = span.range === null ? data.tree.share_error?.[node.index] : null;
    return error === null || error === undefined ? "" : "\u00b1" + (100 * error).toFixed(2);
}

function label(node) {
    const name = nameOf(node).replace(sampledMark, ""),
        short = shortName(name);
    if (keyOf(node) === "") return name;
    callTree.namesakes ??= namesakes();
    return callTree.namesakes.has(short) ? short + (/\(.*$/.exec(name)?.[0] ?? "") : short;
}

function eventNamed(pattern) {
    return data.tree.values.find((value) => pattern.test(value.name));
}

const treeCycles = eventNamed(/^(cpu-)?cycles(:|$)/i),
    treeInstructions = eventNamed(/^instructions(:|$)/i);

/* Cycles per instruction of a context with all that it calls, or null. */
function cpiOf(node) {
    if (treeCycles === undefined || treeInstructions === undefined || span.range !== null) return null;
    const cycles = all(node, treeCycles),
        instructions = all(node, treeInstructions);
    return cycles === null || !(instructions > 0) ? null : cycles / instructions;
}

function callsOf(node) {
    return keyOf(node) === "" || span.range !== null ? null : own(node, treeValue("calls"));
}

/* An event's column in the table of phases. */
function headingOf(name) {
    return data.about.events[0].events.find((event) => event.name === name)?.heading ?? name;
}

function isOfKernel(value) {
    return /^(page-faults|context-switches)/.test(value.name);
}

/* Terms and figures of the other events: per 1,000 instructions, where those are known. */
function missesOf(node) {
    if (span.range !== null) return [];
    const instructions = treeInstructions === undefined ? null : all(node, treeInstructions);
    return data.tree.values
        .slice(3)
        .filter((value) => value !== treeCycles && value !== treeInstructions)
        .map((value) => {
            const count = all(node, value);
            return isOfKernel(value)
                ? [value.name, formatCount(count)]
                : [
                      headingOf(value.name) + "/1,000",
                      count === null || !(instructions > 0) ? unknown : ((count * 1000) / instructions).toFixed(2)
                  ];
        });
}

/* ---- the whole ---- */

/* From the table of phases: enlarge the context of a method with most time. */
callTree.show = (key) => {
    const nodes = callTree.nodes.filter((node) => keyOf(node) === key).sort((a, b) => all(b) - all(a));
    if (!showMethod(key) || nodes.length === 0) return;
    for (let node = nodes[0].parent; node !== null; node = node.parent) callTree.open.add(node);
    drawCalls(null);
    byId("tree").scrollIntoView();
};

function callsTable() {
    return html(
        "table",
        {
            class: "wide calls",
            role: "treegrid",
            "aria-label": "Call tree",
            onkeydown: callsKey,
            onclick: callsClick
        },
        html(
            "thead",
            {},
            html(
                "tr",
                { role: "row" },
                html("th", { scope: "col", role: "columnheader" }, "Method"),
                shownTreeColumns().map(([heading]) =>
                    html(
                        "th",
                        { scope: "col", role: "columnheader", class: classOfColumn(heading) },
                        heading.replace(" (", "\u00a0(")
                    )
                )
            )
        ),
        html("tbody", { id: "call-rows", role: "rowgroup" })
    );
}

function treeLead() {
    return (
        "Callers above callees, at first of the application alone; a click or Enter enlarges a frame, Escape shows all." +
        partlyNote()
    );
}

function drawTree() {
    const lead = byId("tree-lead"),
        flameBody = html("div", {});
    buildTree();
    if (callTree.roots.length === 0) {
        lead.textContent = "No time was recorded on this clock.";
        return;
    }
    lead.textContent = treeLead();
    byId("tree-body").replaceChildren(
        flameBody,
        html("h3", {}, "Call tree"),
        scroller("Call tree", callsTable())
    );
    openHottest();
    drawCalls(null);
    drawFlameGraph(flameBody);
}

/* Of another span of time: what is open stays open. */
function drawTreeAgain() {
    callTree.value = span.range === null ? treeValue(data.tree.clock) : { all: span.all, own: span.own };
    callTree.nodes.forEach((node) => node.children.sort((a, b) => all(b) - all(a)));
    byId("tree-lead").textContent = spanNote(true) + treeLead();
    drawCalls(null);
    drawFlameAgain();
}
