/* A flame graph as a page that needs no other file: callers below, callees above them, as wide as their value. */
#include "report/export/export_tree.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"

/* The page up to its data, and behind them. */
static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\"><title>";

static const char style[] =
    "</title>\n<style>\n"
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
    "</style></head><body><main>\n<h1>";

static const char chart[] =
    "</h1>\n<label>Find <input type=\"search\" id=\"find\" placeholder=\"part of a name\"></label>\n"
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
    "    box.style.cssText = `left:${left}px;width:${Math.max(1, width - 1)}px;"
    "${data.is_reversed ? \"top\" : \"bottom\"}:${depth * 18}px;"
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

/* ---- names ---- */

struct flame_names {
    struct map of;
    const char **texts; /* owned */
    uint32_t n, room;
};

static uint32_t number_of(struct flame_names *names, const char *text)
{
    const uint32_t *known = map_get(&names->of, text, strlen(text));
    if (known != NULL)
        return *known;
    map_put(&names->of, text, strlen(text), names->n);
    *xpush(names->texts, names->room, names->n) = text;
    return names->n - 1;
}

/* ---- nodes, each behind its caller's ---- */

struct node {
    uint32_t parent, name; /* parent: from 1 on; 0: none */
    uint64_t own;
};

struct flame_graph {
    const struct export_tree *tree;
    struct flame_names names;
    uint32_t *name_of; /* by the tree's node: its name, then its number; owned; NULL: reversed stacks, which have: */
    struct hash_set below; /* a parent and a name: the node from 1 on */
    struct node *nodes;    /* owned */
    uint32_t n, room;
};

/* As they are in the call tree. */
static void take_tree(struct flame_graph *g)
{
    const struct calltree *calls = g->tree->source->tree;
    g->name_of = xcalloc((size_t)calls->n_nodes + 1, sizeof *g->name_of);
    for (uint32_t i = 1; i < calls->n_nodes; i++)
        if (g->tree->owner[i] == i)
            g->name_of[i] = number_of(&g->names, export_name(g->tree, i));
}

static uint32_t node_below(struct flame_graph *g, uint32_t parent, uint32_t name)
{
    const uint64_t key = (uint64_t)parent << 32 | name;
    const uint32_t *known = hash_find(&g->below, key);
    if (known != NULL)
        return *known;
    *xpush(g->nodes, g->room, g->n) = (struct node){ parent, name, 0 };
    xhash_store(&g->below, key, g->n);
    return g->n;
}

/* Each context's stack from its innermost call outwards, merged with others that begin the same. */
static void take_reversed(struct flame_graph *g)
{
    const struct export_tree *tree = g->tree;
    struct export_path path = { .n = 0 };
    for (uint32_t i = 1; i < tree->source->tree->n_nodes; i++) {
        uint32_t at = 0;
        if (tree->owner[i] != i || tree->self[i] == 0)
            continue;
        export_path_find(&path, tree, i);
        for (size_t k = 0; k < path.n; k++)
            at = node_below(g, at, number_of(&g->names, export_name(tree, path.nodes[k])));
        g->nodes[at - 1].own += tree->self[i];
    }
    free(path.nodes);
}

/* A node is its caller's index or -1, its name's, and its own value. */
static void print_node(const struct node *node, bool is_first, FILE *out)
{
    fprintf(out, "%s[%" PRId64 ",%" PRIu32 ",%" PRIu64 "]", is_first ? "" : ",", (int64_t)node->parent - 1, node->name,
            node->own);
}

static void print_tree(const struct flame_graph *g, FILE *out)
{
    const struct export_tree *tree = g->tree;
    const struct calltree *calls = tree->source->tree;
    for (uint32_t i = 1, n = 0; i < calls->n_nodes; i++) {
        uint32_t parent = calls->nodes[i].parent;
        if (tree->owner[i] != i)
            continue;
        struct node node = { parent == i ? 0 : g->name_of[tree->owner[parent]], g->name_of[i], tree->self[i] };
        print_node(&node, n == 0, out);
        g->name_of[i] = ++n;
    }
}

static void print_data(const struct flame_graph *g, FILE *out)
{
    fprintf(out, "{\"unit\":\"%s\",%s\"names\":[", g->tree->value.unit,
            g->tree->options->is_reversed ? "\"is_reversed\":true," : "");
    for (uint32_t i = 0; i < g->names.n; i++) {
        fputs(i == 0 ? "" : ",\n", out);
        print_name(g->names.texts[i], out);
    }
    fputs("],\"nodes\":[", out);
    if (g->name_of != NULL)
        print_tree(g, out);
    for (uint32_t i = 0; i < g->n; i++)
        print_node(&g->nodes[i], i == 0, out);
    fputs("]}", out);
}

static void print_title(const char *title, FILE *out)
{
    for (; *title != '\0'; title++)
        if (*title == '<' || *title == '&')
            fputs(*title == '<' ? "&lt;" : "&amp;", out);
        else
            putc(*title, out);
}

int export_flamegraph(const struct export_tree *tree, FILE *out, struct err *err)
{
    struct flame_graph g = { .tree = tree, .names.of.arena = tree->source->arena };
    const char *title = tree->options->title == NULL ? NULL : text_clean(tree->source->arena, tree->options->title);
    (void)err;
    (tree->options->is_reversed ? take_reversed : take_tree)(&g);
    fputs(head, out);
    print_title(title == NULL ? "mmprof flame graph" : title, out);
    fputs(style, out);
    print_title(title == NULL ? "Flame graph" : title, out);
    fputs(chart, out);
    print_data(&g, out);
    fputs(tail, out);
    map_free(&g.names.of);
    hash_free(&g.below);
    free(g.names.texts);
    free(g.name_of);
    free(g.nodes);
    return 0;
}
