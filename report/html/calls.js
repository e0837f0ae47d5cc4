/* The call tree as a table whose rows open and close. */

const treeColumns = [
    ["Time (%)", (node) => withInterval((formatPercent(all(node) / wholeTime()) + " " + intervalOf(node)).trim())],
    ["Self (%)", (node) => formatPercent(own(node) / wholeTime())],
    ["Time", (node) => formatNs(all(node))],
    ["Self", (node) => formatNs(own(node))],
    ["Calls", (node) => (keyOf(node) === "" ? "n/a" : callsOf(node) > 0 ? formatCount(callsOf(node)) : unknown)],
    [
        "Time/call",
        (node) =>
            keyOf(node) === "" ? "n/a" : callsOf(node) > 0 ? formatNs(probeTime(node) / callsOf(node)) : unknown
    ],
    ["CPI", (node) => formatRatio(cpiOf(node))],
    ["Known by", (node) => (span.range === null ? knownBy(node) : unknown)]
];

function classOfColumn(heading) {
    return heading === "Known by" ? "text" : heading === "Time (%)" && data.tree.sampled ? "has-interval" : null;
}

function shownTreeColumns() {
    const isShown = {
        CPI: treeCycles !== undefined,
        "Known by": data.tree.sampled,
        Calls: !isOfSamples,
        "Time/call": !isOfSamples
    };
    return treeColumns.filter(([heading]) => isShown[heading] ?? true);
}

/* Those that are worth opening at first: where most of the caller's time goes on. */
function openHottest() {
    let node = callTree.roots[0];
    while (node !== undefined && node.children.length > 0) {
        callTree.open.add(node);
        node = all(node.children[0]) > 0.5 * all(node) ? node.children[0] : undefined;
    }
}

/* Callees with less than this share of the time share a row, until that row is opened. */
const smallShare = 0.001;

/* A row is a node, or {parent, rest}: those of its callees that are small. */
function visibleRowsOfTree() {
    const rows = [];
    const add = (node) => {
        rows.push(node);
        if (!callTree.open.has(node)) return;
        const small = node.children.filter((child) => all(child) < smallShare * wholeTime()),
            rest = callTree.whole.has(node) ? [] : small;
        node.children.filter((child) => rest.length < 2 || !rest.includes(child)).forEach(add);
        if (rest.length > 1) rows.push({ parent: node, rest });
    };
    callTree.roots.forEach(add);
    return rows;
}

function rowId(row) {
    return row.rest === undefined ? "call-" + row.index : "rest-" + row.parent.index;
}

function treeRow(row, cells, attributes) {
    const depth = row.rest === undefined ? row.depth : row.parent.depth + 1;
    cells[0].style.setProperty("padding-left", Math.min(depth, 30) * 0.9 + 0.3 + "rem");
    return html("tr", { role: "row", "aria-level": depth + 1, tabindex: -1, id: rowId(row), ...attributes }, cells);
}

function turnMark(has, isOpen) {
    return html("span", { class: "turn", "aria-hidden": "true" }, has ? (isOpen ? "\u25be" : "\u25b8") : "");
}

/* "-" says why. */
function treeCell(text, heading) {
    const why = text !== unknown ? null : span.range === null ? "no probe recorded its calls" : whyNotInSpan;
    return html("td", { role: "gridcell", class: classOfColumn(heading), title: why }, text);
}

function nodeRow(node, columns) {
    const isOpen = callTree.open.has(node),
        has = node.children.length > 0;
    const name = html(
        "span",
        { class: keyOf(node) === "" ? null : "name known is-" + knownKind(node) },
        label(node)
    );
    const first = html("td", { role: "gridcell", title: nameOf(node) }, turnMark(has, isOpen), name);
    const cells = columns.map(([heading, format]) =>
        treeCell(format(node), heading)
    );
    return treeRow(node, [first, ...cells], { "aria-expanded": has ? String(isOpen) : null });
}

/* Shares and times add up; the rest has no sum. */
function restRow(row, columns) {
    const time = row.rest.reduce((sum, node) => sum + all(node), 0);
    const texts = { "Time (%)": formatPercent(time / wholeTime()), Time: formatNs(time) };
    const first = html(
        "td",
        { role: "gridcell", class: "quiet" },
        turnMark(true, false),
        plural(row.rest.length, "smaller one")
    );
    const cells = columns.map(([heading]) => html("td", { role: "gridcell", class: "none" }, texts[heading] ?? ""));
    return treeRow(row, [first, ...cells], { "aria-expanded": "false" });
}

function drawCalls(focus) {
    const columns = shownTreeColumns();
    const rows = visibleRowsOfTree();
    byId("call-rows").replaceChildren(
        ...rows.map((row) => (row.rest === undefined ? nodeRow(row, columns) : restRow(row, columns)))
    );
    const first = focus ?? rows[0];
    const tr = first === undefined ? null : byId(rowId(first));
    tr?.setAttribute("tabindex", 0);
    if (focus) tr?.focus();
}

function turnRow(row) {
    if (row.rest !== undefined) {
        callTree.whole.add(row.parent);
        drawCalls(row.rest[0]);
        return;
    }
    if (!callTree.open.delete(row)) callTree.open.add(row);
    drawCalls(row);
}

function rowOfEvent(event) {
    const tr = event.target.closest("#call-rows tr");
    return tr === null ? undefined : visibleRowsOfTree().find((row) => rowId(row) === tr.id);
}

function callsClick(event) {
    const row = rowOfEvent(event);
    if (row !== undefined && (row.rest !== undefined || row.children.length > 0)) turnRow(row);
}

function callsKey(event) {
    const row = rowOfEvent(event);
    if (row === undefined) return;
    const rows = visibleRowsOfTree(),
        at = rows.findIndex((other) => rowId(other) === rowId(row));
    const isOpen = callTree.open.has(row),
        isClosed = !isOpen && (row.rest !== undefined || row.children.length > 0);
    const go = (to) => {
        if (to) drawCalls(to);
    };
    const keys = {
        ArrowDown: () => go(rows[at + 1]),
        ArrowUp: () => go(rows[at - 1]),
        ArrowRight: () => (isClosed ? turnRow(row) : isOpen && go(rows[at + 1])),
        ArrowLeft: () => (isOpen ? turnRow(row) : go(row.parent)),
        Home: () => go(rows[0]),
        End: () => go(rows[rows.length - 1]),
        Enter: () => (isOpen || isClosed) && turnRow(row)
    };
    if (keys[event.key] === undefined) return;
    event.preventDefault();
    keys[event.key]();
}
