/*
 * Findings on what is known to be slow: methods of the JDK, by a table of patterns, and whose code calls them.
 *
 * A call of such a method is the time of the innermost method of the program's own above it, with all that it calls but
 * other methods of the program's own.
 */
#include "report/findings/findings_internal.h"

#include "core/base/pattern.h"

#define METHODS_MOST 6u /* that have a line, of each rule */

/* What is said of it: "Parser.parse spends 20 % of the CPU time, 1.20 s, in CALLEE: WHY". */
typedef const char *details_fn(const struct findings_making *making, const struct findings_sums *sums, uint32_t callee);

struct known {
    const char *rule, *pattern;
    details_fn *details; /* behind the callee's name; NULL: nothing */
    const char *why;
    const char *descriptor; /* NULL: any */
};

static bool is_constructor(const struct findings_making *making, uint32_t method)
{
    return method < making->source->tree->n_methods &&
           strcmp(report_name(making->source, method).method, "<init>") == 0;
}

/* The program's own constructor of an exception, or the JDK's that it calls. */
static uint32_t constructor_above(const struct findings_making *making, uint32_t node)
{
    const struct calltree *tree = making->source->tree;
    while (tree->nodes[node].parent != node && is_constructor(making, tree->nodes[tree->nodes[node].parent].method))
        node = tree->nodes[node].parent;
    return node;
}

static const char *class_of(const struct findings_making *making, uint32_t node)
{
    return report_name(making->source, making->source->tree->nodes[node].method).class_name;
}

/* " (ParseException, stack depth 40)": whose constructor it is, and how many calls are above. */
static const char *of_exceptions(const struct findings_making *making, const struct findings_sums *sums,
                                 uint32_t callee)
{
    const struct calltree *tree = making->source->tree;
    uint32_t outer = constructor_above(making, callee), depth = 0;
    (void)sums;
    for (uint32_t i = tree->nodes[outer].parent; tree->nodes[i].parent != i; i = tree->nodes[i].parent)
        depth++;
    return arena_printf(making->source->arena, " (%s, stack depth %u)",
                        java_names_class(making->source->arena, class_of(making, outer)), depth);
}

/* What the JDK calls back within its own work. */
static bool is_part(const struct method_name *name)
{
    static const char *const names[] = { "equals", "hashCode", "compareTo", "compare", "loadClass", "findClass" };
    bool is_one = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is_one = is_one || strcmp(name->method, names[i]) == 0;
    return is_one;
}

/* " (keys: SymbolKey)": whose equals, hashCode or compareTo took most. */
static const char *of_keys(const struct findings_making *making, const struct findings_sums *sums, uint32_t callee)
{
    const struct calltree *tree = making->source->tree;
    const char *key = NULL;
    uint64_t most = 0;
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        if (sums->of[i] != sums->of[callee] || tree->nodes[i].cpu_ticks <= most ||
            making->is_library[tree->nodes[i].method])
            continue;
        most = tree->nodes[i].cpu_ticks;
        key = class_of(making, i);
    }
    return key == NULL
               ? ""
               : arena_printf(making->source->arena, " (keys: %s)", java_names_class(making->source->arena, key));
}

#define HASHED   "many keys have the same hash code: mend hashCode"
#define COMPILED "it compiles a pattern each time: keep a Pattern in a static field"
#define LOADED   "classes are loaded all the time: keep them, or their loader"
#define FORCED   "each call waits for the disk: force once for several records"
#define MADE     "it is made each time: keep one for each thread"
#define SEARCHED "it looks at one element after the other: use a HashSet or HashMap"
#define STARTED  "a thread is started each time: use a pool of threads"
#define WRITTEN  "Java serialization is the slowest way to copy or send objects: use constructors"
#define BYTEWISE "each byte is a call of the system: put a buffered stream around it"
#define BOXED    "numbers become objects: use primitive types and arrays"

static const struct known known[] = {
    { "exceptions", "java/lang/Throwable.*", of_exceptions, "return a value, or throw without a stack trace", NULL },
    { "exceptions", "java/lang/StackTraceElement*", NULL, "stack traces are read; ask for less of them", NULL },
    /* not its getTreeNode, which only calls find: compilers' tables name it for code nearby */
    { "hash", "java/util/HashMap$TreeNode.find", of_keys, HASHED, NULL },
    { "hash", "java/util/HashMap$TreeNode.putTreeVal", of_keys, HASHED, NULL },
    { "hash", "java/util/HashMap$TreeNode.treeify", of_keys, HASHED, NULL },
    { "hash", "java/util/HashMap$TreeNode.removeTreeNode", of_keys, HASHED, NULL },
    { "hash", "java/util/concurrent/ConcurrentHashMap$TreeNode.findTreeNode", of_keys, HASHED, NULL },
    { "hash", "java/util/concurrent/ConcurrentHashMap$TreeBin.*", of_keys, HASHED, NULL },
    { "library", "java/util/regex/Pattern.compile", NULL, COMPILED, NULL },
    { "library", "java/util/regex/Pattern.matches", NULL, COMPILED, NULL },
    { "library", "java/util/regex/*", NULL, "the pattern is tried again and again (backtracking), or the text is long",
      NULL },
    { "library", "java/lang/String.split", NULL, COMPILED, NULL },
    { "library", "java/lang/String.replace*", NULL, COMPILED, NULL },
    { "library", "java/lang/String.matches", NULL, COMPILED, NULL },
    { "library", "java/lang/String.format*", NULL, "it reads the format each time: concatenate", NULL },
    { "library", "java/util/Formatter*", NULL, "it reads the format each time: concatenate", NULL },
    { "library", "java/lang/Integer.valueOf", NULL, BOXED, NULL },
    { "library", "java/lang/Long.valueOf", NULL, BOXED, NULL },
    { "library", "java/lang/Double.valueOf", NULL, BOXED, NULL },
    { "library", "sun/nio/ch/FileChannelImpl.force*", NULL, FORCED, NULL },
    { "library", "java/io/FileDescriptor.sync*", NULL, FORCED, NULL },
    { "library", "java/lang/Thread.start*", NULL, STARTED, NULL },
    { "library", "java/text/SimpleDateFormat.<init>", NULL, MADE, NULL },
    { "library", "java/text/DecimalFormat.<init>", NULL, MADE, NULL },
    { "library", "java/text/NumberFormat.get*Instance", NULL, MADE, NULL },
    { "library", "java/time/format/DateTimeFormatter.ofPattern", NULL, MADE, NULL },
    { "library", "java/util/ArrayList.contains", NULL, SEARCHED, NULL },
    { "library", "java/util/ArrayList.indexOf*", NULL, SEARCHED, NULL },
    { "library", "java/util/LinkedList.contains", NULL, SEARCHED, NULL },
    { "library", "java/util/LinkedList.indexOf", NULL, SEARCHED, NULL },
    { "library", "java/util/LinkedList.get", NULL, SEARCHED, NULL },
    { "library", "java/util/LinkedList.node", NULL, SEARCHED, NULL },
    { "library", "java/io/ObjectOutputStream.*", NULL, WRITTEN, NULL },
    { "library", "java/io/ObjectInputStream.*", NULL, WRITTEN, NULL },
    { "library", "java/io/FileOutputStream.write", NULL, BYTEWISE, "(I)V" },
    { "library", "java/io/FileInputStream.read", NULL, BYTEWISE, "()I" },
    { "loading", "java/lang/ClassLoader.*", NULL, LOADED, NULL },
    { "loading", "java/lang/Class.forName*", NULL, LOADED, NULL },
};

#define N_KNOWN (sizeof known / sizeof *known)

/* By method: 1 + the number of its row of the rule; 0: it has none.  The arena's. */
static uint8_t *rows_of(const struct findings_making *making, const char *rule)
{
    uint32_t n = making->source->tree->n_methods;
    uint8_t *row = arena_alloc(making->source->arena, n + 1);
    for (size_t i = N_KNOWN; i-- > 0;) {
        struct pattern pattern;
        if (strcmp(known[i].rule, rule) != 0 || pattern_parse(&pattern, known[i].pattern) < 0)
            continue;
        for (uint32_t j = 0; j < n; j++) {
            struct method_name name = report_name(making->source, j);
            if (making->is_library[j] && pattern_matches_class(&pattern, name.class_name, strlen(name.class_name)) &&
                pattern_matches_method(&pattern, name.method, strlen(name.method)) &&
                (known[i].descriptor == NULL || strcmp(known[i].descriptor, name.descriptor) == 0))
                row[j] = (uint8_t)(i + 1);
        }
    }
    return row;
}

static bool is_within(const struct findings_making *making, uint32_t method)
{
    const char *name = method < making->source->tree->n_methods ? report_name(making->source, method).method : "";
    return strcmp(name, "<init>") == 0 || strcmp(name, "loadClass") == 0 || strcmp(name, "findClass") == 0;
}

/* Whose code a call of a known method is: constructors and class loaders that call each other are one call. */
static uint32_t owner_above(const struct findings_making *making, const struct calltree *tree, const uint32_t *owners,
                            uint32_t node)
{
    uint32_t at = tree->nodes[node].parent;
    while (tree->nodes[at].parent != at && is_within(making, tree->nodes[at].method))
        at = tree->nodes[at].parent;
    return owners[at];
}

static uint32_t *counted_of(const struct findings_making *making, const struct calltree *tree, const void *rule)
{
    const uint32_t *owners = findings_owners(making, tree);
    const uint8_t *rows = rows_of(making, rule);
    uint32_t *of = arena_alloc(making->source->arena, ((size_t)tree->n_nodes + 1) * sizeof *of);
    of[0] = CALLTREE_NONE;
    for (uint32_t i = 1; i < tree->n_nodes; i++) { /* callers come before callees */
        const struct calltree_node *node = &tree->nodes[i];
        bool is_method = node->method < making->source->tree->n_methods && node->parent != i;
        bool is_known = is_method && rows[node->method] != 0;
        of[i] = !is_method ? CALLTREE_NONE : of[node->parent];
        if (is_known && of[i] == CALLTREE_NONE)
            of[i] = owner_above(making, tree, owners, i);
        else if (of[i] != CALLTREE_NONE && !making->is_library[node->method]) {
            struct method_name name = report_name(making->source, node->method);
            of[i] = is_part(&name) ? of[i] : CALLTREE_NONE;
        }
    }
    return of;
}

/* The outermost call of a known method above a context. */
static uint32_t callee_above(const struct findings_making *making, const struct findings_sums *sums, uint32_t node)
{
    const struct calltree *tree = making->source->tree;
    while (tree->nodes[node].parent != node && sums->of[tree->nodes[node].parent] == sums->of[node])
        node = tree->nodes[node].parent;
    return node;
}

static void add_known(struct findings_making *making, const struct finding_rule *rule, const struct findings_sums *sums,
                      const uint8_t *rows, uint32_t method)
{
    struct arena *arena = making->source->arena;
    double share = (double)sums->ticks[method] / making->all_ticks, error = sums->errors[method];
    double ns = report_ns(making->source, sums->ticks[method]);
    uint32_t node = callee_above(making, sums, sums->heaviest[method]);
    uint32_t callee = making->source->tree->nodes[node].method;
    const struct known *row = &known[rows[callee] - 1];
    const char *details = row->details == NULL ? "" : row->details(making, sums, node);
    const char *label = findings_label(making, method), *called = findings_label(making, callee);
    const char *part = findings_share(making, share, error), *time = findings_time(making, ns);
    const struct finding f = { .subject = label,
                               .text = arena_printf(arena, "%s spends %s of the CPU time, %s, in %s%s: %s", label, part,
                                                    time, called, details, row->why),
                               .view = arena_printf(arena, "callers=%s", called),
                               .cost_ns = ns,
                               .share = share,
                               .low = share - error,
                               .high = share + error };
    bool is_exception = row->details == of_exceptions;
    const char *exception = is_exception ? class_of(making, constructor_above(making, node)) : NULL;
    if (findings_add(making, rule, &f))
        findings_tell(making, &(struct findings_told){ counted_of, rule->name, method, exception });
}

void findings_of_known(struct findings_making *making, const struct finding_rule *rule)
{
    struct findings_sums sums;
    if (!making->has_cpu_time)
        return;
    const uint8_t *rows = rows_of(making, rule->name);
    findings_sum(making, counted_of, rule->name, &sums);
    for (uint32_t i = 0; i < METHODS_MOST; i++) {
        uint32_t most = findings_most(making, &sums);
        if (sums.ticks[most] == 0)
            break;
        if (strcmp(rule->name, "loading") != 0 || findings_is_steady(making, &sums, most, false))
            add_known(making, rule, &sums, rows, most);
        sums.ticks[most] = 0;
    }
}
