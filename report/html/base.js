/* What all parts of the page use: elements, numbers, axes. */

const data = JSON.parse(document.getElementById("data").textContent);

/* A comparison has a flame graph and a table, a fleet a table and charts, others tables; and nothing of a recording. */
if (data.diff !== undefined || data.fleet !== undefined || data.tables !== undefined)
    Object.assign(data, {
        about: { info: {}, events: [], lines: [] },
        phases: { columns: [], rows: [], notes: [] },
        tree: { parent: [], names: [], keys: [], kinds: [], name: [], values: [], clock: "" }
    });

/* A trace that has nothing but stack samples: what there is not, is left out. */
const isOfSamples = data.about.info["recording.mode"] === "samples";

/* ---- elements ---- */

function fill(element, attributes, children) {
    for (const [key, value] of Object.entries(attributes || {})) {
        if (value === null || value === undefined || value === false) continue;
        if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
        else if (key === "style")
            for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
        else element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
    return element;
}

function html(tag, attributes, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
    return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function byId(id) {
    return document.getElementById(id);
}

/*
 * What is drawn to the width of an element, and again whenever that gets another one.  All of them are measured first
 * and drawn then, by fitAll(): to measure behind something that has just been drawn costs a layout of the page.
 */
const toFit = [];

function fit(fittings) {
    const widths = fittings.map(({ element }) => Math.floor(element.clientWidth));
    fittings.forEach((fitting, i) => {
        if (widths[i] === fitting.width || widths[i] === 0) return;
        fitting.width = widths[i];
        try {
            fitting.draw(widths[i]);
        } catch (error) {
            console.error(error);
        }
    });
}

function fitAll() {
    fit(toFit.splice(0));
}

function drawFitting(element, draw) {
    const fitting = { element, draw, width: 0 };
    toFit.push(fitting);
    new ResizeObserver(() => fit([fitting])).observe(element);
}

/* What is wider than the page scrolls by itself: by the keyboard, too, so it takes the focus then. */
function scroller(label, child) {
    const element = html("div", { class: "scroll", role: "group", "aria-label": label }, child);
    const settle = () => {
        if (element.scrollWidth > element.clientWidth) element.setAttribute("tabindex", 0);
        else element.removeAttribute("tabindex");
    };
    new ResizeObserver(settle).observe(element);
    return element;
}

/* ---- numbers, as 'mmprof report' prints them ---- */

const unknown = "-";

function digits3(x) {
    return x >= 99.95 ? x.toFixed(0) : x >= 9.995 ? x.toFixed(1) : x.toFixed(2);
}

function formatNs(ns) {
    if (ns === null || ns === undefined) return unknown;
    if (ns === 0) return "0\u00a0ns";
    const units = [
        [1e9, "s"],
        [1e6, "ms"],
        [1e3, "\u00b5s"],
        [1, "ns"]
    ];
    const [size, unit] = units.find(([least]) => ns >= least * 0.9995) || units[3];
    return digits3(ns / size) + "\u00a0" + unit;
}

function formatPercent(share) {
    if (share === null || share === undefined || Number.isNaN(share)) return unknown;
    const percent = share * 100;
    return share > 0 && percent < 0.01 ? "< 0.01" : percent.toFixed(2);
}

/* For a sentence. */
function percent(share) {
    if (share === null || share === undefined || Number.isNaN(share)) return unknown;
    const x = share * 100;
    return (
        (x >= 9.95
            ? x.toFixed(0)
            : x >= 0.995
              ? x.toFixed(1)
              : x === 0
                ? "0"
                : x < 0.01
                  ? "< 0.01"
                  : x.toFixed(2)) + "\u00a0%"
    );
}

function formatBytes(n) {
    if (n === null || n === undefined) return unknown;
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    const power = n < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(n) / 10));
    return (power === 0 ? Math.round(n) : digits3(n / 1024 ** power)) + "\u00a0" + units[power];
}

/* A thousand times as fast as toLocaleString(), which looks for the locale each time. */
const groupsOfDigits = new Intl.NumberFormat("en-US");

function formatCount(n) {
    return n === null || n === undefined ? unknown : groupsOfDigits.format(Math.round(n));
}

function formatRatio(x) {
    return x === null || x === undefined || !Number.isFinite(x) ? unknown : x.toFixed(3);
}

/* 1e-05 as people write it: 0.001 %. */
function formatThreshold(x) {
    return (
        Number((x * 100).toPrecision(3))
            .toString()
            .replace(/e-0?(\d+)$/, "\u00d710\u207b$1") + "\u00a0%"
    );
}

function plural(n, noun) {
    return formatCount(n) + " " + noun + (n === 1 ? "" : "s");
}

/* "CPU time" stays, "Wall time" becomes "wall time" within a sentence. */
function lowerFirst(text) {
    return /^[A-Z][a-z]/.test(text) ? text[0].toLowerCase() + text.slice(1) : text;
}

/* "a", "a and b", "a, b and c": parts may be elements; commas stand between. */
function listed(items) {
    return items.flatMap((item, i) => [i === 0 ? "" : i === items.length - 1 ? " and " : ", ", item]);
}

/* "a, then b and c". */
function then(items) {
    return items.length < 2 ? items : [items[0], ", then ", ...listed(items.slice(1))];
}

/* com.sun.tools.javac.comp.Attr.attribTree(int) becomes Attr.attribTree. */
function shortName(name) {
    const plain = name.replace(/\(.*$/, "");
    const at = plain.lastIndexOf(".", plain.lastIndexOf(".") - 1);
    return /^[\w.$<>/-]+$/.test(plain) ? plain.slice(at + 1) : name;
}

/* 0 of none; of more numbers than a call may have arguments. */
function largest(numbers) {
    return numbers.reduce((most, number) => Math.max(most, number), 0);
}

/* ---- colours ---- */

/* A shade of the accent, 0..1, and what can be read on it; light or dark, the page's colours decide. */
function shade(strength) {
    const percent = Math.round(14 + 78 * Math.min(1, Math.max(0, strength)));
    return "color-mix(in oklab, var(--accent) " + percent + "%, var(--paper))";
}

/* Where both have about the same contrast, in light and in dark. */
function inkOn(strength) {
    return strength > 0.7 ? "var(--paper)" : "var(--ink)";
}

function partColour(key) {
    return "var(--part-" + key + ", var(--quiet))";
}

/* What can be read on it. */
function onPart(key) {
    return "var(--on-part-" + key + ", var(--on-part))";
}

const penWidths = new Map();

/* Of a character in the page's figures, in pixels; measured once. */
function penWidth(character) {
    if (!penWidths.has(character)) {
        const pen = document.createElement("canvas").getContext("2d");
        pen.font = "11.5px " + getComputedStyle(document.documentElement).fontFamily;
        penWidths.set(character, pen.measureText(character).width);
    }
    return penWidths.get(character);
}

/* So much of a text as has room, with an ellipsis; nothing, where that is less than two letters. */
function cut(text, width) {
    const room = width - 8;
    let taken = 0,
        fits = 0;
    if (room < 20) return "";
    for (let i = 0; i < text.length; i++) {
        taken += penWidth(text[i]);
        if (taken <= room - penWidth("\u2026")) fits = i + 1;
        if (taken > room) return fits < 2 ? "" : text.slice(0, fits) + "\u2026";
    }
    return text;
}

/* ---- axes ---- */

/* Round steps for about n marks from 0 to the highest value, or past it. */
function roundSteps(highest, n) {
    if (!(highest > 0)) return [0];
    const rough = highest / n,
        power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
    const marks = [];
    for (let i = 0; (i - 1) * step < highest * 0.9999; i++) marks.push(i * step);
    return marks;
}

/* The powers of ten from lowest to highest, every one or every few. */
function decades(lowest, highest, most) {
    const first = Math.ceil(Math.log10(lowest) - 1e-9),
        last = Math.floor(Math.log10(highest) + 1e-9);
    const stride = Math.max(1, Math.ceil((last - first + 1) / most));
    const marks = [];
    for (let e = last; e >= first; e -= stride) marks.unshift(10 ** e);
    return marks;
}

function powerLabel(x) {
    const e = Math.round(Math.log10(x));
    if (e >= 0 && e <= 4) return formatCount(10 ** e);
    const minus = e < 0 ? "\u207b" : "";
    return (
        "10" +
        minus +
        String(Math.abs(e)).replace(/\d/g, (d) => "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"[d])
    );
}
