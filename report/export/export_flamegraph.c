/*
 * A flame graph as a page that needs no other file: callers below, callees above them, as wide as their value.
 */
#include "report/export/export_tree.h"

#include "core/base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The page up to its data, and behind them. */
static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\"><title>mmprof flame graph</title>\n<style>\n"
    ":root { --paper: #fdfdfb; --ink: #1a1b1e; --light: 80%; }\n"
    "@media (prefers-color-scheme: dark) { :root { --paper: #15171a; --ink: #e3e4e6; --light: 30%; } }\n"
    "body { margin: 1rem; font: 14px/1.4 system-ui, sans-serif; color: var(--ink); background: var(--paper); }\n"
    "h1 { font-size: 1.2rem; margin: 0 0 .5rem; }\n"
    "#readout { min-height: 1.4em; margin: .5rem 0; overflow-wrap: anywhere; }\n"
    "#chart { position: relative; overflow: hidden; }\n"
    "#chart button { position: absolute; height: 17px; padding: 0 3px; border: 0; border-radius: 1px; overflow: hidden;"
    "\n    font: 12px/17px ui-monospace, monospace; text-align: left; white-space: nowrap; color: var(--ink);\n"
    "    background: hsl(var(--hue) 65% var(--light)); cursor: pointer; }\n"
    "#chart button.below, #chart button.other { opacity: .4; }\n"
    "#chart button:focus-visible, #chart button:hover { outline: 2px solid var(--ink); z-index: 1; }\n"
    "</style></head><body><main>\n<h1>Flame graph</h1>\n"
    "<label>Find <input type=\"search\" id=\"find\" placeholder=\"part of a name\"></label>\n"
    "<button type=\"button\" id=\"reset\">Show all</button>\n"
    "<p id=\"readout\" aria-live=\"polite\"></p><div id=\"chart\"></div>\n"
    "<noscript><p>This page draws itself by JavaScript, which is switched off.</p></noscript></main>\n"
    "<script type=\"application/json\" id=\"data\">";

static const char tail[] =
    "</script>\n<script>\n(() => {\n\"use strict\";\n"
    "const data = JSON.parse(document.getElementById(\"data\").textContent), byId = (id) => "
    "document.getElementById(id);"
    "\nconst nodes = data.nodes.map(([parent, name, own]) => ({ parent: parent < 0 ? null : parent, name: "
    "data.names[name],\n    own, all: own, callees: [] }));\n"
    "for (let i = nodes.length - 1; i >= 0; i--) /* a caller stands before its callees */\n"
    "    if (nodes[i].parent !== null) nodes[nodes[i].parent].all += nodes[i].all;\n"
    "const root = { name: \"all\", own: 0, all: 0, callees: [], caller: null };\n"
    "for (const node of nodes) {\n"
    "    node.caller = node.parent === null ? root : nodes[node.parent];\n"
    "    node.caller.callees.push(node);\n    if (node.caller === root) root.all += node.all;\n}\n"
    "for (const node of [root, ...nodes]) node.callees.sort((a, b) => (a.name < b.name ? -1 : 1));\n"
    "let top = root, wanted = \"\";\n"
    "const isWanted = (node) => wanted !== \"\" && node.name.toLowerCase().includes(wanted);\n"
    "function text(value) {\n"
    "    if (data.unit !== \"nanoseconds\") return value.toLocaleString(\"en-US\");\n"
    "    const [size, unit] = [[1e9, \"s\"], [1e6, \"ms\"], [1e3, \"\\u00b5s\"], [1, \"ns\"]].find(([s]) => value >= "
    "s) "
    "|| [1, \"ns\"];\n    return (value / size).toPrecision(3) + \"\\u00a0\" + unit;\n}\n"
    "const share = (value) => ((100 * value) / (root.all || 1)).toFixed(2) + \"\\u00a0%\";\n"
    "const say = (node) => node.name + \": \" + text(node.all) + \", \" + share(node.all) + \"; own \" + "
    "text(node.own);\n"
    "const hue = (name) => [...name.replace(/\\.[^.]*$/, \"\")].reduce((h, c) => (h * 31 + c.charCodeAt(0)) % 60, 7);\n"
    "/* com.example.Shop.find(int) becomes Shop.find(int), where there is room for a name at all. */\n"
    "const label = (name) => name.replace(/^(?:[\\w$]+[./])+(?=[\\w$]+\\.[^.( ]+(?:[( ]|$))/, \"\");\n"
    "function put(node, left, width, depth, height, isBelow) {\n"
    "    if (width < 1) return;\n    const box = document.createElement(\"button\");\n"
    "    box.type = \"button\";\n    box.textContent = width < 24 ? \"\" : label(node.name);\n"
    "    box.setAttribute(\"aria-label\", say(node));\n    box.title = say(node);\n"
    "    box.className = isBelow ? \"below\" : wanted !== \"\" && !isWanted(node) ? \"other\" : \"\";\n"
    "    box.style.cssText = `left:${left}px;width:${Math.max(1, width - 1)}px;bottom:${depth * 18}px;"
    "--hue:${hue(node.name)}`;\n"
    "    box.onclick = () => { top = node; draw(); };\n"
    "    box.onmouseover = box.onfocus = () => { byId(\"readout\").textContent = say(node); };\n"
    "    height.most = Math.max(height.most, depth + 1);\n    byId(\"chart\").append(box);\n}\n"
    "function putAll(node, left, width, depth, height) {\n"
    "    put(node, left, width, depth, height, false);\n    let at = left;\n"
    "    if (width >= 1) for (const callee of node.callees) {\n"
    "        const its = (width * callee.all) / (node.all || 1);\n"
    "        putAll(callee, at, its, depth + 1, height);\n        at += its;\n    }\n}\n"
    "/* What is found, without what it calls itself again. */\n"
    "const found = (node) => isWanted(node) ? node.all : node.callees.reduce((sum, callee) => sum + found(callee), "
    "0);\n"
    "function draw() {\n    const height = { most: 0 }, width = byId(\"chart\").clientWidth, below = [];\n"
    "    byId(\"chart\").replaceChildren();\n"
    "    for (let node = top.caller; node !== null; node = node.caller) below.unshift(node);\n"
    "    below.forEach((node, depth) => put(node, 0, width, depth, height, true));\n"
    "    putAll(top, 0, width, below.length, height);\n"
    "    byId(\"chart\").style.height = height.most * 18 + \"px\";\n"
    "    byId(\"readout\").textContent = wanted === \"\" ? say(top) : \"found: \" + text(found(root)) + \", \" + "
    "share(found(root));\n}\n"
    "byId(\"find\").oninput = (event) => { wanted = event.target.value.toLowerCase(); draw(); };\n"
    "byId(\"reset\").onclick = () => { top = root; draw(); };\n"
    "addEventListener(\"keydown\", (event) => { if (event.key === \"Escape\") { top = root; draw(); } });\n"
    "addEventListener(\"resize\", draw);\ndraw();\n})();\n</script></body></html>\n";

/* A string of JSON in a page: nothing in it may end the script. */
static void print_name(const char *text, FILE *out)
{
    fputc('"', out);
    for (const char *end = text + strlen(text); text < end;) {
        uint32_t character = text_take_clean(&text, end);
        if (character == '"' || character == '\\' || character == '<')
            fprintf(out, "\\u%04x", (unsigned)character);
        else
            text_put(out, character);
    }
    fputc('"', out);
}

/* By node: its index among those that are written, and its name's among the names; by method: its name's, from 1 on. */
struct numbers {
    uint32_t *node, *name, *method;
};

static bool make_numbers(struct numbers *numbers, const struct calltree *calls)
{
    numbers->node = calloc((size_t)calls->n_nodes + 1, sizeof *numbers->node);
    numbers->name = calloc((size_t)calls->n_nodes + 1, sizeof *numbers->name);
    numbers->method = calloc((size_t)calls->n_methods + 1, sizeof *numbers->method);
    return numbers->node != NULL && numbers->name != NULL && numbers->method != NULL;
}

static void free_numbers(struct numbers *numbers)
{
    free(numbers->node);
    free(numbers->name);
    free(numbers->method);
}

/* Each name once. */
static void print_names(const struct export_tree *tree, struct numbers *numbers, FILE *out)
{
    const struct calltree *calls = tree->source->tree;
    uint32_t n_names = 0, n_nodes = 0;
    for (uint32_t i = 1; i < calls->n_nodes; i++) {
        uint32_t method = calls->nodes[i].method, known = method < calls->n_methods ? numbers->method[method] : 0;
        if (tree->owner[i] != i)
            continue;
        if (known == 0) {
            fputs(n_names == 0 ? "" : ",\n", out);
            print_name(export_name(tree, i), out);
            known = ++n_names;
        }
        if (method < calls->n_methods)
            numbers->method[method] = known;
        numbers->name[i] = known - 1;
        numbers->node[i] = n_nodes++;
    }
}

/* The contexts that are written, each as its caller's index among them, or -1, its name's, and its own value. */
static void print_nodes(const struct export_tree *tree, const struct numbers *numbers, const uint64_t *self, FILE *out)
{
    const struct calltree *calls = tree->source->tree;
    const char *comma = "";
    for (uint32_t i = 1; i < calls->n_nodes; i++) {
        uint32_t parent = calls->nodes[i].parent;
        if (tree->owner[i] != i)
            continue;
        int64_t caller = parent == i ? -1 : (int64_t)numbers->node[tree->owner[parent]];
        fprintf(out, "%s[%" PRId64 ",%" PRIu32 ",%" PRIu64 "]", comma, caller, numbers->name[i], self[i]);
        comma = ",";
    }
}

static int print_data(const struct export_tree *tree, const struct export_value *value, FILE *out)
{
    struct numbers numbers;
    uint64_t *self = export_self(tree, value);
    int rc = !make_numbers(&numbers, tree->source->tree) || self == NULL ? -1 : 0;
    if (rc == 0) {
        fprintf(out, "{\"unit\":\"%s\",\"names\":[", value->unit);
        print_names(tree, &numbers, out);
        fputs("],\"nodes\":[", out);
        print_nodes(tree, &numbers, self, out);
        fputs("]}", out);
    }
    free_numbers(&numbers);
    free(self);
    return rc;
}

int export_flamegraph(const struct report_source *source, const struct export_tree_options *options, FILE *out,
                      struct err *err)
{
    struct export_value value;
    struct export_tree tree;
    int rc = -1;
    if (export_value_find(source, options->value, &value, err) < 0 ||
        export_tree_open(&tree, source, options->min_share, err) < 0)
        return -1;
    fputs(head, out);
    if (print_data(&tree, &value, out) < 0)
        err_set(err, "out of memory for the stacks of %u calling contexts", source->tree->n_nodes);
    else if (fputs(tail, out) < 0 || ferror(out))
        err_set(err, "cannot write the flame graph");
    else
        rc = 0;
    export_tree_close(&tree);
    return rc;
}
