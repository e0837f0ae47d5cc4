/* The page of 'mmprof diff --html': what differs, as a flame graph and as the table. */

/* {direction, words} by the number of a frame's name; direction 1: more, -1: less, 0: not shown. */
const changesOf = new Map((data.diff?.changes ?? []).map((change) => [change.frame, change]));

/* The frame's shares before and after, and what is said of its method. */
function changeOfFrame(frame) {
    const tree = data.graphs[0].tree,
        [before, after] = ["before", "after"].map(
            (name) => tree.values.find((value) => value.name === name).all[frame.index]
        );
    const said = changesOf.get(tree.name[frame.index]) ?? null;
    return { before, after, said };
}

/* Red: a larger share; blue: a smaller one; the stronger, the more.  Grey: not shown for the method, or the other way
 * round here. */
function changeColours(frame) {
    const { before, after, said } = changeOfFrame(frame),
        direction = Math.sign(after - before);
    if (said === null || said.direction === 0 || said.direction !== direction) return ["var(--frame-group)", "var(--on-frame)"];
    const ratio = before > 0 && after > 0 ? Math.abs(Math.log2(after / before)) : 1,
        strength = Math.round(35 + 65 * Math.min(1, ratio));
    return [
        "color-mix(in oklab, var(--" + (direction > 0 ? "more" : "less") + ") " + strength + "%, var(--frame-group))",
        "var(--on-frame)"
    ];
}

function changeFigures(frame) {
    const { before, after, said } = changeOfFrame(frame),
        points = 100 * (after - before);
    return [
        ["Before", percent(before)],
        ["After", percent(after)],
        ["Change", (points < 0 ? "\u2212" : "+") + Math.abs(points).toFixed(2) + " points"],
        ["Its method", said === null ? "not compared: no row of the table" : said.words]
    ];
}

function changeLegend() {
    return [
        ["more", "larger share after, and more than chance"],
        ["less", "smaller share after, and more than chance"],
        ["group", "not shown, or not compared"]
    ].map(([key, text]) => html("li", {}, html("span", { class: "swatch frame is-" + key }), text));
}

function tableOfRuns(table, heading, skip = 0) {
    return [
        html("h3", {}, heading),
        ...table.lines.slice(skip).map((text) => html("p", { class: "quiet" }, text)),
        plainTable(table, heading, "no interval, or not applicable"),
        ...table.notes.map((text) => html("p", { class: "quiet" }, text))
    ];
}

function drawDiff() {
    const { before, after, table, runs } = data.diff,
        body = html("div", {});
    document.title = "mmprof diff";
    byId("title").textContent = "What differs";
    byId("command").textContent = "before: " + before;
    byId("subtitle").textContent = "after: " + after;
    byId("tree-lead").textContent =
        "Each context\u2019s share of the time, before and after. A frame is coloured where the comparison shows that its method\u2019s time has changed; a click or Enter enlarges it, Escape shows all.";
    byId("tree-body").replaceChildren(
        body,
        ...(runs === undefined ? [] : tableOfRuns(runs, "The runs")),
        ...tableOfRuns(table, "The comparison", 2)
    );
    drawFlameGraph(body);
}
