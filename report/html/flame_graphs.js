/* What the flame graph draws: for each meaning of its widths a tree of frames. */

/*
 * data.graphs: {key, label, unit, about, value, minus?, of?, tree?}.  Its tree is its own, that of the graph 'of', or
 * data.tree, the call tree; the widths are the value of that name, less 'minus'.
 *
 * A frame: {parent, children, depth, name, short, key, kind, all, own, rest, node}; rest: all that is in no frame below
 * it, and not its own; node: the call tree's, or null.
 */

/* What a frame can be, by the data's kinds of frames and what is known of the call tree's nodes; in the legend's order. */
const frameKinds = {
    probes: "Java, exact: measured by probes",
    both: "Java, exact for a part of the time, else (or the end) sampled",
    samples: "Java, sampled: time estimated by stack samples",
    native: "native method",
    jvm: "the JVM\u2019s own threads",
    kernel: "kernel",
    group: "no method: threads, a lock, a class of objects"
};

const partsOfJvm = ["gc", "c1", "c2", "vm_thread", "other_vm", "mmprof"];

function frameKind(kind, node) {
    if (kind === "kernel" || kind === "native") return kind;
    if (partsOfJvm.includes(kind)) return "jvm";
    if (kind !== "java") return "group";
    if (data.diff !== undefined) return "compared";
    return node === null ? "samples" : knownKind(node);
}

/* Texts as people read them; short ones of several methods keep their parameters. */
function shortNames(tree) {
    const names = tree.names.map((name) => name.replace(sampledMark, "")),
        shorts = names.map((name, i) => (tree.keys[i] === "" ? name : shortName(name)));
    const keys = new Map();
    shorts.forEach((short, i) => keys.set(short, (keys.get(short) ?? new Set()).add(tree.keys[i])));
    return shorts.map((short, i) =>
        tree.keys[i] !== "" && keys.get(short).size > 1 ? short + (/\(.*$/.exec(names[i])?.[0] ?? "") : short
    );
}

/* The numbers of a graph by index of its tree, "all" or "own"; null where it is not known. */
function graphNumbers(graph, tree, which) {
    const value = tree.values.find((other) => other.name === graph.value),
        minus = tree.values.find((other) => other.name === graph.minus);
    if (minus === undefined) return value[which];
    return value[which].map((number, i) =>
        number === null || minus[which][i] === null ? null : Math.max(0, number - minus[which][i])
    );
}

function framesOf(tree, all, own, isCallTree) {
    const shorts = shortNames(tree);
    const frames = tree.parent.map((_, i) => {
        const name = tree.name[i],
            node = isCallTree ? callTree.nodes[i] : null;
        return {
            index: i,
            parent: null,
            children: [],
            depth: 0,
            name: tree.names[name].replace(sampledMark, ""),
            short: shorts[name],
            key: tree.keys[name],
            kind: frameKind(tree.kinds[name], node),
            all: all[i] ?? 0,
            own: own[i] ?? 0,
            rest: 0,
            node
        };
    });
    frames.forEach((frame, i) => {
        if (tree.parent[i] < 0) return;
        frame.parent = frames[tree.parent[i]];
        frame.depth = frame.parent.depth + 1;
        frame.parent.children.push(frame);
    });
    return frames;
}

/* From the leaves on: no caller has less than what it calls, for a counter that was not read of it is 0 here. */
function settleFrames(frames) {
    for (const frame of frames.slice().reverse()) {
        const below = frame.children.reduce((sum, child) => sum + child.all, 0);
        frame.children = frame.children.filter((child) => child.all > 0).sort((a, b) => b.all - a.all);
        frame.all = Math.max(frame.all, below);
        frame.rest = Math.max(0, frame.all - frame.own - below);
    }
    return frames
        .filter((frame) => frame.parent === null && frame.all > 0)
        .sort((a, b) => (b.name === "application") - (a.name === "application") || b.all - a.all);
}

function treeOfGraph(graph) {
    if (graph.tree !== undefined) return graph.tree;
    return data.graphs.find((other) => other.key === graph.of)?.tree ?? data.tree;
}

/* Its roots, made when they are first asked for. */
function rootsOfGraph(graph) {
    if (graph.roots === undefined) {
        const tree = treeOfGraph(graph);
        const isOfSpan = span.range !== null && isKnownInSpan(graph);
        const { all, own } = isOfSpan
            ? treeInSpan(tree)
            : { all: graphNumbers(graph, tree, "all"), own: graphNumbers(graph, tree, "own") };
        const frames = framesOf(tree, all, own, tree === data.tree);
        graph.roots = settleFrames(frames);
        graph.whole = graph.roots.reduce((sum, root) => sum + root.all, 0);
    }
    return graph.roots;
}

/* Of a span of time a tree's own clock is known, or all of a tree of other stacks. */
function isKnownInSpan(graph) {
    const tree = treeOfGraph(graph);
    return tree.steps !== undefined && graph.minus === undefined && (tree.clock ?? graph.value) === graph.value;
}

/* Those that this trace has numbers of. */
function graphsWithNumbers() {
    return data.graphs.filter((graph) => {
        const tree = treeOfGraph(graph);
        return tree.values.some((value) => value.name === graph.value && value.all.some((number) => number > 0));
    });
}

function formatOf(graph, number) {
    if (graph.unit === "ns") return formatNs(number);
    if (graph.unit === "share") return percent(number);
    return graph.unit === "bytes" ? formatBytes(number) : formatCount(number);
}

/* The event's heading in the table of phases is better known than its name. */
function graphLabel(graph) {
    return graph.unit === "count" ? headingOf(graph.label) : graph.label;
}

/* The frame that stands where another graph has this one, or the nearest caller's. */
function sameFrame(graph, frame) {
    const path = [];
    for (let at = frame; at !== null; at = at.parent) path.unshift(at);
    let found = null,
        among = rootsOfGraph(graph);
    for (const step of path) {
        const next = among.find((other) => other.key === step.key && other.name === step.name);
        if (next === undefined) break;
        found = next;
        among = next.children;
    }
    return found;
}
