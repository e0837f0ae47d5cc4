/* The call tree as an icicle: callers above callees, as wide as their time. */

/* How dark a context is: by its own time as a share of its time, or by its CPI next to the others'. */
function strengthOf(node) {
    if (callTree.shadeBy === "own") return all(node) > 0 ? (own(node) + smallOf(node)) / all(node) : 0;
    const cpi = cpiOf(node);
    return cpi === null ? 0 : Math.min(1, cpi / (callTree.highestCpi || 1));
}

function place(width) {
    const placed = [];
    const tops = callTree.top === null ? callTree.roots : [callTree.top];
    const whole = tops.reduce((sum, node) => sum + all(node), 0) || 1;
    const put = (node, x, depth) => {
        const w = (all(node) / whole) * width;
        if (w < 0.6) return;
        placed.push({ node, x, w, depth });
        let at = x;
        for (const child of node.children) {
            put(child, at, depth + 1);
            at += (all(child) / whole) * width;
        }
    };
    let x = 0;
    for (const node of tops) {
        put(node, x, 0);
        x += (all(node) / whole) * width;
    }
    return placed;
}

function isWanted(node) {
    return callTree.wanted === "" || nameOf(node).toLowerCase().includes(callTree.wanted);
}

function box(item) {
    const { node, x, w, depth } = item,
        strength = strengthOf(node),
        text = cut(label(node), w);
    return svg(
        "g",
        {
            role: "treeitem",
            tabindex: -1,
            "aria-level": depth + 1,
            id: "node-" + node.index,
            "aria-label": nameOf(node) + ", " + percent(all(node) / wholeTime()),
            class: [isWanted(node) ? "" : "is-faded", w < 12 ? "" : "is-" + knownKind(node)].join(" ").trim() || null
        },
        svg("title", {}, nameOf(node)),
        svg("rect", {
            x: x.toFixed(2),
            y: depth * iciclePitch + 1,
            width: Math.max(0.5, w).toFixed(2),
            height: iciclePitch - 1,
            style: { fill: shade(strength) }
        }),
        text === ""
            ? null
            : svg(
                  "text",
                  {
                      "aria-hidden": "true",
                      x: x + 4,
                      y: depth * iciclePitch + 14,
                      style: { fill: inkOn(strength) }
                  },
                  text
              )
    );
}

function sayNode(node) {
    const calls = callsOf(node),
        cpi = cpiOf(node),
        small = smallOf(node),
        whole = wholeTime();
    const time = all(node);
    const figures = [
        ["Time", formatNs(time) + ", " + percent(time / whole) + (intervalOf(node) && " " + intervalOf(node))],
        ["Self", formatNs(own(node)) + ", " + percent(own(node) / whole)],
        small > 0 ? ["Small callees", formatNs(small)] : null,
        calls === null ? null : ["Calls", formatCount(calls)],
        calls > 0 ? ["Time/call", formatNs(probeTime(node) / calls)] : null,
        data.tree.sampled ? ["Known by", knownBy(node)] : null,
        treeCycles === undefined ? null : ["CPI", formatRatio(cpi)],
        ...missesOf(node)
    ].filter(Boolean);
    byId("tree-readout").replaceChildren(html("p", { class: "name" }, nameOf(node)), inlineList(figures));
}

function makeCurrent(node, takeFocus) {
    byId("icicle").querySelector("g.is-current")?.classList.remove("is-current");
    callTree.current = node;
    const g = byId("node-" + node.index);
    sayNode(node);
    if (g === null) return;
    g.classList.add("is-current");
    byId("icicle")
        .querySelectorAll("g[tabindex='0']")
        .forEach((other) => other.setAttribute("tabindex", -1));
    g.setAttribute("tabindex", 0);
    if (takeFocus) g.focus({ preventScroll: false });
}

function zoom(node) {
    callTree.top = node;
    callTree.redraw();
    makeCurrent(node ?? callTree.roots[0], true);
    byId("tree-up").disabled = node === null;
}

function nodeOfEvent(event) {
    const g = event.target.closest("g[role='treeitem']");
    return g === null ? null : callTree.nodes[Number(g.id.slice(5))];
}

/* Where an arrow key leads in the tree; undefined: it is no such key. */
function neighbour(node, key) {
    const row = node.parent === null ? callTree.roots : node.parent.children,
        at = row.indexOf(node);
    switch (key) {
        case "ArrowDown":
            return node.children[0];
        case "ArrowUp":
            return node === callTree.top ? node : node.parent;
        case "ArrowRight":
            return row[at + 1];
        case "ArrowLeft":
            return row[at - 1];
        default:
            return undefined;
    }
}

function icicleKey(event) {
    const node = callTree.current;
    if (node === null) return;
    if (event.key === "Enter" || event.key === " ") zoom(node === callTree.top ? node.parent : node);
    else if (event.key === "Escape") zoom(null);
    else if (!event.key.startsWith("Arrow")) return;
    else {
        const next = neighbour(node, event.key);
        if (next && byId("node-" + next.index) !== null) makeCurrent(next, true);
    }
    event.preventDefault();
}

function drawIcicle(width) {
    const placed = place(width),
        depth = placed.reduce((most, item) => Math.max(most, item.depth), 0);
    callTree.highestCpi = largest(placed.map((item) => cpiOf(item.node) ?? 0));
    const chart = svg("svg", {
        viewBox: "0 0 " + width + " " + ((depth + 1) * iciclePitch + 2),
        role: "tree",
        "aria-label": "Call tree, callers above callees. Arrow keys move, Enter enlarges, Escape shows all",
        onkeydown: icicleKey,
        onpointerover: (event) => {
            const node = nodeOfEvent(event);
            if (node !== null) makeCurrent(node, false);
        },
        onclick: (event) => {
            const node = nodeOfEvent(event);
            if (node !== null) zoom(node === callTree.top ? node.parent : node);
        },
        onfocusin: (event) => {
            const node = nodeOfEvent(event);
            if (node !== null && node !== callTree.current) makeCurrent(node, false);
        }
    });
    chart.append(...placed.map(box));
    byId("icicle").replaceChildren(chart);
    const current =
        callTree.current !== null && byId("node-" + callTree.current.index) !== null
            ? callTree.current
            : placed[0]?.node;
    if (current) makeCurrent(current, false);
}
