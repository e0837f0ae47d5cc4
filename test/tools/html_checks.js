/* What a user does on the page of 'mmprof report --html'; a line for each claim: "ok CLAIM" or "not ok CLAIM". */

const lines = [];
const say = (claim, isOk, found) => lines.push((isOk ? "ok " : "not ok ") + claim + (isOk ? "" : ": " + found));
const all = (selector) => [...document.querySelectorAll(selector)];
const texts = (selector) => all(selector).map((element) => element.textContent.trim());
const column = (i) => all("#phase-rows > tr:not(.detail)").map((tr) => tr.cells[i].textContent);
const press = (element, key) =>
    element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const settle = () => new Promise((done) => setTimeout(done, 100));
await settle();

say("there is no section of what the trace has not", document.querySelector("#values, a[href='#values'], " +
    "#live-objects, a[href='#live-objects']") === null, "there is");

/* The table of phases. */
const heads = texts("#phase-heads th"), calls = heads.indexOf("Calls");
say("the table has the text report's columns", heads[0] === "Phase" && calls > 0, heads.join());
const number = (text) => Number(text.replaceAll(",", ""));
const isSorted = (values, sign) => values.every((value, i) => i === 0 || sign * (value - values[i - 1]) >= 0);
say("phases are sorted by time at first", isSorted(column(1).map(Number), -1), column(1));
const varied = texts("#stats tbody th");
say("how calls vary is told of the phases", varied.length > 1 && column(0).includes(varied[0]), varied);
const head = all("#phase-heads th")[calls], button = head.querySelector("button");
button.click();
say("a heading sorts, largest first", isSorted(column(calls).map(number), -1), column(calls));
say("and says so", head.getAttribute("aria-sort") === "descending", head.getAttribute("aria-sort"));
button.click();
say("a second click turns the order", isSorted(column(calls).map(number), 1) &&
    head.getAttribute("aria-sort") === "ascending", column(calls));
say("only one column is sorted by", all("#phase-heads th:not([aria-sort='none'])").length === 1, "more");
all("#phase-heads th button")[0].click();
const byName = column(0).sort((a, b) => a.localeCompare(b));
say("names are sorted from A on", column(0).join() === byName.join(), column(0));
all("#phase-heads th button")[1].click();

const filter = document.getElementById("phase-filter"), n = column(0).length;
filter.value = "sortdata";
filter.dispatchEvent(new Event("input"));
say("typing leaves the rows that match", column(0).length === 1 && column(0)[0] === "Thesis.sortData", column(0));
filter.value = "";
filter.dispatchEvent(new Event("input"));
say("and gives all back", column(0).length === n, column(0).length);

const name = all("#phase-rows button.name").find((element) => element.textContent === "Thesis.sortData");
name.click();
say("a name opens", all("#phase-rows tr.detail").length === 1, all("#phase-rows tr.detail").length);
const whose = texts("#phase-rows tr.detail .name")[0];
say("and says whose it is", whose === "micro.Thesis.sortData()V", whose);
say("the focus stays on the name", document.activeElement.textContent === "Thesis.sortData" &&
    document.activeElement.getAttribute("aria-expanded") === "true", document.activeElement.outerHTML);
document.querySelector("#phase-rows tr.detail button").click();
await settle();
const said = () => texts("#flame-readout .name")[0];
say("it leads to the flame graph", said() === "micro.Thesis.sortData", said());

/* The flame graph. */
const frame = () => document.activeElement;
const boxes = () => all("#flame g[role='treeitem']");
const titleOf = (g) => g.querySelector("title").textContent;
say("the flame graph is drawn", boxes().length >= 3, boxes().length);
say("the enlarged frame has the focus, and all the width", frame() === boxes()[0] &&
    titleOf(frame()).startsWith("micro.Thesis.sortData\n"), frame().outerHTML);
press(frame(), "ArrowDown");
say("an arrow leads to a callee", /Thesis\.(compare|swap)$/.test(said()) && frame().ariaLevel === "2", said());
const callee = said();
press(frame(), "ArrowRight");
say("and to its neighbour", said() !== callee && frame().ariaLevel === "2", said());
press(frame(), "ArrowUp");
say("and back to the caller", said() === "micro.Thesis.sortData", said());
press(frame(), "Escape");
say("Escape shows all", said() === "application" && document.getElementById("flame-reset").disabled, said());
press(frame(), "ArrowDown");
press(frame(), "Enter");
say("Enter enlarges", boxes()[0] === frame() && !document.getElementById("flame-reset").disabled, frame().outerHTML);
document.getElementById("flame-reset").click();
say("a button shows all, too", said() === "application", said());
say("frames tell exact figures", /\nCPU time: .*s, [\d.]+.%.*\nSelf: .*\nCalls: 300\n/.test(
    titleOf(boxes().find((g) => titleOf(g).startsWith("micro.Thesis.compare\n")))), titleOf(boxes()[4]));
say("the legend has what is drawn", texts("#flame-legend li").join().startsWith("Java, exact: measured by probes,") &&
    boxes().some((g) => g.classList.contains("is-probes")), texts("#flame-legend li"));
const search = document.getElementById("flame-search"), found = () => document.getElementById("flame-found").textContent;
const type = (text) => {
    search.value = text;
    search.dispatchEvent(new Event("input"));
};
const shareOf = (text) => titleOf(boxes().find((g) => titleOf(g).includes(text))).match(/, ([\d.]+).%/)[1];
const marked = () => boxes().filter((g) => g.querySelector("rect").style.fill === "var(--match)").length;
type("sortdata");
say("a search marks what matches, and tells its share", marked() === 1 && found() ===
    "1 name, " + shareOf("Thesis.sortData") + "\u00a0% of CPU time", found());
type("^micro.*(compare|swap)$");
say("a text is no regular expression", found() === "no frame matches", found());
document.getElementById("flame-regular").click();
say("unless asked for: what is in another match counts once", marked() === 2 && found().startsWith("2 names, "), found());
type("(");
say("a bad one is told", search.ariaInvalid === "true" && found().startsWith("not a regular expression"), found());
document.getElementById("flame-regular").click();
type("");
say("and nothing is marked without one", marked() === 0 && found() === "", found());
const widths = document.getElementById("flame-widths"), meanings = texts("#flame-widths option");
say("widths are CPU time, wall time or off the CPU", meanings.slice(0, 3).join() === "CPU time,Wall time,Off the CPU",
    meanings);
press(boxes()[0], "ArrowDown");
press(boxes()[0], "Enter");
const enlarged = said();
widths.selectedIndex = 1;
widths.dispatchEvent(new Event("change"));
say("the chosen one is drawn, of the same frame", said() === enlarged &&
    titleOf(boxes()[0]).includes("\nWall time: "), said() + titleOf(boxes()[0]));
widths.selectedIndex = 0;
widths.dispatchEvent(new Event("change"));
document.getElementById("flame-reset").click();

/* The call tree. */
const first = document.querySelector("#call-rows tr");
const nOpen = all("#call-rows tr").length;
press(first, "ArrowLeft");
say("a row of the tree closes", all("#call-rows tr").length < nOpen, all("#call-rows tr").length);
press(document.querySelector("#call-rows tr"), "ArrowRight");
say("and opens", all("#call-rows tr").length === nOpen, all("#call-rows tr").length);
const level = all("#call-rows tr")[1].getAttribute("aria-level");
say("rows say how deep they are", level === "2", level);

/* The time line. */
const curve = document.getElementById("line-rate"), curveNames = texts("#line-rate option");
say("waiting and switches can be drawn over time", curveNames.includes("waiting for a CPU") &&
    curveNames.includes("context switches"), curveNames.join());
const drawn = () => texts("#line-chart text").some((text) => text.startsWith("context switches"));
curve.selectedIndex = curveNames.indexOf("context switches");
curve.dispatchEvent(new Event("change"));
say("the chosen one is drawn", drawn() && all("#line-chart .line").length > 0, texts("#line-chart text"));
const chart = document.getElementById("line-chart"), saidAt = () => document.getElementById("line-readout").textContent;
say("the time line is drawn", chart !== null && chart.querySelectorAll("polygon").length > 1, chart?.outerHTML.slice(0, 99));
say("it begins with the first step", saidAt().startsWith("0\u00a0ns to "), saidAt());
const firstStep = saidAt();
press(chart, "ArrowRight");
say("an arrow leads to the next step", saidAt() !== firstStep, saidAt());
press(chart, "End");
press(chart, "ArrowRight");
say("the last step is the last", saidAt().includes("region"), saidAt());
say("regions are explained", all("#region-table tbody tr").length > 0, "none");

/* A span of it. */
const pressWithShift = (key) => document.getElementById("line-chart").dispatchEvent(
    new KeyboardEvent("keydown", { key, shiftKey: true, bubbles: true, cancelable: true }));
const rowOf = (label) => all("#phase-table tr").find((tr) => tr.cells[0]?.textContent === label);
const timeOf = (label) => Number(rowOf(label).cells[1].textContent), bar = document.getElementById("span-bar");
const wholeTime = timeOf("Thesis.sortData"), wholeCalls = rowOf("Thesis.sortData").cells[calls].textContent;
press(chart, "Home");
for (let i = 0; i < 24; i++) pressWithShift("PageDown");
say("Shift and an arrow key select a span", !bar.hidden && bar.textContent.startsWith("Only 0.0"), bar.textContent);
say("a span of all the time has the whole's shares", Math.abs(timeOf("Thesis.sortData") - wholeTime) < 1 + 0.02 * wholeTime,
    timeOf("Thesis.sortData") + ", " + wholeTime);
say("selfs add up to 100 %", Math.abs(all("#phase-table tbody tr").reduce((sum, tr) =>
    sum + (Number(tr.cells[2]?.textContent) || 0), 0) - 100) < 1, texts("#phase-table tbody tr td:nth-child(3)"));
const noCalls = rowOf("Thesis.sortData").cells[calls];
say("what is not known of a span says so", noCalls.textContent === "-" && noCalls.title.startsWith("not known of a span"),
    noCalls.outerHTML);
press(chart, "Home");
pressWithShift("ArrowRight");
say("all follow another span", texts("#flame-readout .name").length === 1 && texts("#summary p")[0].startsWith("From ") &&
    timeOf("Thesis.sortData") < wholeTime / 2 && texts("#flame-widths option")[1].endsWith("not known of a span"),
    timeOf("Thesis.sortData") + texts("#summary p")[0]);
const drag = (type, share) => {
    const box = chart.getBoundingClientRect();
    chart.dispatchEvent(new PointerEvent(type, { pointerId: 1, button: 0, clientX: box.left + share * box.width,
        clientY: box.top + 30, bubbles: true }));
};
chart.setPointerCapture = () => {};
drag("pointerdown", 0.3);
drag("pointermove", 0.6);
drag("pointerup", 0.7);
say("the pointer selects, too", !bar.textContent.startsWith("Only 0.0"), bar.textContent);
press(chart, "Escape");
say("Escape gives all back", bar.hidden && timeOf("Thesis.sortData") === wholeTime &&
    rowOf("Thesis.sortData").cells[calls].textContent === wholeCalls, bar.textContent);

/* Where threads were. */
const share = (text) => Number(text.replace("< ", ""));
const cells = (selector, i) => all(selector).map((tr) => tr.cells[i].textContent);
const wheres = texts("#where-heads th");
if (wheres.length === 0) {
    const said = document.getElementById("ip-samples-lead").textContent;
    say("without hits the page says why", said.startsWith("Not shown: "), said);
} else {
    const times = cells("#where-rows tr", 1), whole = cells("#where-table tfoot tr", 1).join();
    say("where threads were is sorted by time", isSorted(times.map(share), -1), times);
    say("its columns are the parts of the VM", wheres[0] === "Where" && wheres.includes("Application"), wheres.join());
    const ofApplication = all("#where-heads button")[wheres.indexOf("Application")];
    ofApplication.click();
    say("it sorts as the phases do", isSorted(cells("#where-rows tr", 2).map(share), -1) &&
        ofApplication.parentElement.getAttribute("aria-sort") === "descending", cells("#where-rows tr", 2));
    say("all is 100 %, and stays below", whole === "100.00", whole);
    say("bars are made of the parts' colours", all("#where-rows td.bar").every((td) =>
        td.style.backgroundImage.startsWith("linear-gradient(")), all("#where-rows td.bar")[0]?.outerHTML);
    say("the hottest code is named", all("#hot-rows .name").length > 0, "none");
    const kinds = document.getElementById("hot-kind"), nCode = all("#hot-rows tr").length;
    kinds.selectedIndex = kinds.options.length - 1;
    kinds.dispatchEvent(new Event("change"));
    say("a kind of code can be chosen", all("#hot-rows tr").length > 0 && all("#hot-rows tr").length <= nCode, nCode);
    kinds.selectedIndex = 0;
    kinds.dispatchEvent(new Event("change"));
    say("and all again", all("#hot-rows tr").length === nCode, all("#hot-rows tr").length);
    const longer = document.querySelector("#hot-rows td button"), short = longer?.textContent;
    longer?.click();
    say("a long line opens", longer === null || longer.textContent.length > short.length, longer?.outerHTML);
}
const counted = texts("[aria-label^='Collections'] tbody th");
say("what the JVM counted is there", counted.includes("safepoints"), counted.join());

/* The plots. */
say("two plots of the selection", all("#selection figure svg").length === 2, all("#selection svg").length);
const slider = document.getElementById("sweep-grain"), before = document.getElementById("sweep-readout").textContent;
slider.value = Number(slider.value) > 20 ? 0 : 40;
slider.dispatchEvent(new Event("input"));
say("a slider moves the thresholds", document.getElementById("sweep-readout").textContent !== before, before);
const over = document.getElementById("over-weight");
over.click();
say("the other axis can be chosen", over.getAttribute("aria-pressed") === "true", over.outerHTML);
say("the bars are drawn", all("#parts figure rect").length > 2, all("#parts figure rect").length);

/* What was not measured. */
const silent = all("td").filter((td) => td.textContent === "-" && td.title === "" && !td.closest("#event-table"));
say("each '-' of the tables says why", silent.length === 0, silent[0]?.outerHTML);
const printed = document.body.innerText;
say("nothing is NaN, undefined or infinite", !/NaN|undefined|Infinity|\[object/.test(printed),
    printed.match(/.{0,40}(NaN|undefined|Infinity|\[object).{0,40}/)?.[0]);

/* For those who do not see, or have no mouse. */
const unnamed = all("button, input, select").filter((element) => element.textContent.trim() === "" &&
    !element.labels?.length && !element.getAttribute("aria-label"));
say("each control has a name", unnamed.length === 0, unnamed[0]?.outerHTML);
const ids = all("[id]").map((element) => element.id);
say("ids are unique", new Set(ids).size === ids.length, ids.filter((id, i) => ids.indexOf(id) !== i));
say("each section has a heading", all("section").every((section) => section.getAttribute("aria-label") ||
    document.getElementById(section.getAttribute("aria-labelledby"))), "one has none");
const wide = all(".scroll").filter((element) => element.scrollWidth > element.clientWidth && element.tabIndex !== 0);
say("what scrolls can be scrolled by keys", wide.length === 0, wide[0]?.outerHTML.slice(0, 200));
say("the page is not wider than its window", document.documentElement.scrollWidth <= innerWidth,
    document.documentElement.scrollWidth + " of " + innerWidth);
return lines;
