/* The call tree as a table whose rows open and close. */

const treeColumns = [
    ["Time (%)", (node) => formatPercent(all(node) / wholeTime())],
    ["Self (%)", (node) => formatPercent(own(node) / wholeTime())],
    ["Time", (node) => formatNs(all(node))],
    ["Self", (node) => formatNs(own(node))],
    ["Calls", (node) => (callsOf(node) === null ? "n/a" : formatCount(callsOf(node)))],
    [
        "Time/call",
        (node) =>
            callsOf(node) === null ? "n/a" : callsOf(node) > 0 ? formatNs(all(node) / callsOf(node)) : unknown
    ],
    ["CPI", (node) => formatRatio(cpiOf(node))]
];

/* Those that are worth opening at first: where most of the caller's time goes on. */
function openHottest() {
    let node = callTree.roots[0];
    while (node !== undefined && node.children.length > 0) {
        callTree.open.add(node);
        node = all(node.children[0]) > 0.5 * all(node) ? node.children[0] : undefined;
    }
}

function visibleNodes() {
    const rows = [];
    const add = (node) => {
        rows.push(node);
        if (callTree.open.has(node)) node.children.forEach(add);
    };
    callTree.roots.forEach(add);
    return rows;
}

function drawCalls(focus) {
    const columns = treeColumns.filter(([heading]) => heading !== "CPI" || treeCycles !== undefined);
    const rows = visibleNodes().map((node) => {
        const isOpen = callTree.open.has(node),
            has = node.children.length > 0;
        return html(
            "tr",
            {
                role: "row",
                "aria-level": node.depth + 1,
                tabindex: node === focus ? 0 : -1,
                "aria-expanded": has ? String(isOpen) : null,
                id: "call-" + node.index
            },
            html(
                "td",
                {
                    role: "gridcell",
                    title: nameOf(node),
                    style: { "padding-left": Math.min(node.depth, 30) * 0.9 + 0.3 + "rem" }
                },
                html("span", { class: "turn", "aria-hidden": "true" }, has ? (isOpen ? "\u25be" : "\u25b8") : ""),
                html("span", { class: keyOf(node) === "" ? null : "name" }, label(node))
            ),
            columns.map(([, format]) => html("td", { role: "gridcell" }, format(node)))
        );
    });
    byId("call-rows").replaceChildren(...rows);
    const first = focus ?? callTree.roots[0];
    const row = first === undefined ? null : byId("call-" + first.index);
    row?.setAttribute("tabindex", 0);
    if (focus) row?.focus();
}

function turnNode(node, isOpen) {
    if (isOpen) callTree.open.add(node);
    else callTree.open.delete(node);
    drawCalls(node);
}

function callsKey(event) {
    const tr = event.target.closest("tr[id^='call-']");
    if (tr === null) return;
    const node = callTree.nodes[Number(tr.id.slice(5))],
        rows = visibleNodes(),
        at = rows.indexOf(node);
    const isOpen = callTree.open.has(node),
        has = node.children.length > 0;
    const go = (to) => {
        if (to) drawCalls(to);
    };
    const keys = {
        ArrowDown: () => go(rows[at + 1]),
        ArrowUp: () => go(rows[at - 1]),
        ArrowRight: () => (has && !isOpen ? turnNode(node, true) : go(node.children[0])),
        ArrowLeft: () => (isOpen ? turnNode(node, false) : go(node.parent)),
        Home: () => go(rows[0]),
        End: () => go(rows[rows.length - 1]),
        Enter: () => has && turnNode(node, !isOpen)
    };
    if (keys[event.key] === undefined) return;
    event.preventDefault();
    keys[event.key]();
}
