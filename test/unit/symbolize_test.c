#include "symbolize/java_names.h"
#include "symbolize/vm_parts.h"

#include "test/unit/tap.h"

static struct arena arena;

static void test_display(void)
{
    static const struct {
        const char *claim, *class_name, *method, *brief, *full;
    } rows[] = {
        { "the package is left out", "com/sun/tools/javac/parser/JavacParser", "classDeclaration",
          "JavacParser.classDeclaration", "com.sun.tools.javac.parser.JavacParser.classDeclaration" },
        { "a class without a package", "Main", "main", "Main.main", "Main.main" },
        { "inner classes keep their outer ones", "a/Outer$Inner", "<init>", "Outer$Inner.<init>",
          "a.Outer$Inner.<init>" },
        { "a hidden class' address goes (17)", "a/Shell$$Lambda$14/0x0000000800c03000", "run", "Shell$$Lambda$14.run",
          "a.Shell$$Lambda$14.run" },
        { "a hidden class' address goes (25)", "a/Shell$$Lambda.0x00007f1234", "run", "Shell$$Lambda.run",
          "a.Shell$$Lambda.run" },
        { "no class at all", "", "(method 7)", "(method 7)", "(method 7)" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct method_name name = { rows[i].class_name, rows[i].method, "()V" };
        CHECK_TEXT(rows[i].claim, java_names_display(&arena, &name, JAVA_NAMES_SHORT), rows[i].brief);
        CHECK_TEXT("and in full", java_names_display(&arena, &name, JAVA_NAMES_FULL), rows[i].full);
    }
}

static void test_is(void)
{
    static const struct method_name get = { "shop/web/Server$ItemServlet", "doGet", "(I)V" },
                                    none = { "", "(method 7)", "" };
    static const struct {
        const char *pattern;
        bool is_it;
    } rows[] = {
        { "doGet", true },
        { "doPost", false },
        { "ItemServlet.doGet", true },
        { "Server$ItemServlet#doGet", true },
        { "shop.web.Server$ItemServlet.doGet", true },
        { "shop/web/Server$ItemServlet.doGet", true },
        { "Servlet.doGet", false },
        { "*Servlet.doGet", true },
        { "shop.web.*.doGet", true },
        { "shop.db.*.doGet", false },
        { "*Servlet.do*", true },
        { "do?et", true },
        { ".doGet", false },
        { "doGet(int)", true },
        { "doGet(long)", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK(rows[i].pattern, java_names_is(&arena, &get, rows[i].pattern) == rows[i].is_it);
    CHECK("what has no class is in none", !java_names_is(&arena, &none, "a.*") && java_names_is(&arena, &none, "*"));
}

static void test_parameters(void)
{
    static const struct {
        const char *descriptor, *text;
    } rows[] = {
        { "()V", "()" },
        { "(I)V", "(int)" },
        { "(BCDFIJSZ)V", "(byte, char, double, float, int, long, short, boolean)" },
        { "([[Ljava/lang/String;I)Ljava/util/List;", "(String[][], int)" },
        { "(LMain;)V", "(Main)" },
        { "V", "(?)" },
        { "(", "(?)" },
        { "(Ljava/lang/String)V", "(?)" },
        { "(Q)V", "(?)" },
        { "([", "(?)" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_TEXT(rows[i].descriptor, java_names_parameters(&arena, rows[i].descriptor), rows[i].text);
}

static void test_labels(void)
{
    static const struct {
        struct method_name name;
        const char *label;
    } rows[] = {
        { { "a/List", "add", "(I)V" }, "a.List.add(int)" },
        { { "a/List", "add", "(J)V" }, "a.List.add(long)" },
        { { "b/List", "add", "(I)V" }, "b.List.add" },
        { { "a/List", "size", "()I" }, "List.size" },
        { { "a/Set", "get", "(I)I" }, "Set.get(int)" },
        { { "a/Set", "get", "(J)I" }, "Set.get(long)" },
        { { "a/Box", "value", "()Ljava/lang/Object;" }, "Box.value() Object" },
        { { "a/Box", "value", "()Ljava/lang/String;" }, "Box.value() String" },
        { { "a/L$$Lambda$1/0x01", "run", "()V" }, "a/L$$Lambda$1/0x01.run()V #9" },
        { { "a/L$$Lambda$1/0x02", "run", "()V" }, "a/L$$Lambda$1/0x02.run()V #10" },
        { { "a/Tree", "put", "(La/Map$Entry;[La/List$Node;)V" }, "Tree.put(Entry, Node[])" },
        { { "a/Tree", "put", "(La/List$1;)V" }, "Tree.put(List$1)" },
        { { "a/Tree", "get", "(La/Map$Node;)V" }, "Tree.get(Map$Node)" },
        { { "a/Tree", "get", "(La/List$Node;)V" }, "Tree.get(List$Node)" },
    };
    enum { N = sizeof rows / sizeof rows[0] };
    struct method_name names[N];
    for (size_t i = 0; i < N; i++)
        names[i] = rows[i].name;
    const char **labels = java_names_labels(&arena, names, N);
    for (size_t i = 0; i < N; i++)
        CHECK_TEXT(rows[i].label, labels[i], rows[i].label);
}

static void test_parts(void)
{
    static const struct {
        const char *comm;
        enum vm_part part;
    } rows[] = {
        { "java", VM_PART_APPLICATION },
        { "main", VM_PART_APPLICATION },
        { "", VM_PART_APPLICATION },
        { "ForkJoinPool-1-", VM_PART_APPLICATION },
        { "GC Thread#0", VM_PART_GC },
        { "GC Thread#11", VM_PART_GC },
        { "GC task thread#", VM_PART_GC },
        { "Gang worker#0 (", VM_PART_GC },
        { "CMS Main Thread", VM_PART_GC },
        { "Surrogate Locke", VM_PART_GC },
        { "G1 Main Marker", VM_PART_GC },
        { "G1 Conc#0", VM_PART_GC },
        { "G1 Refine#0", VM_PART_GC },
        { "G1 Service", VM_PART_GC },
        { "ZWorker#0", VM_PART_GC },
        { "ZWorkerYoung#0", VM_PART_GC },
        { "ZWorkerOld#0", VM_PART_GC },
        { "ZDirector", VM_PART_GC },
        { "ZDriver", VM_PART_GC },
        { "ZDriverMajor", VM_PART_GC },
        { "ZStat", VM_PART_GC },
        { "ZUncommitter", VM_PART_GC },
        { "ZUncommitter#0", VM_PART_GC },
        { "ZUnmapper", VM_PART_GC },
        { "RuntimeWorker#1", VM_PART_GC },
        { "Shenandoah Cont", VM_PART_GC },
        { "Shenandoah GC T", VM_PART_GC },
        { "ParGC Thread#0", VM_PART_GC },
        { "C1 CompilerThre", VM_PART_C1 },
        { "C2 CompilerThre", VM_PART_C2 },
        { "VM Thread", VM_PART_THREAD },
        { "VM Periodic Tas", VM_PART_OTHER },
        { "Common-Cleaner", VM_PART_OTHER },
        { "Finalizer", VM_PART_OTHER },
        { "JFR Periodic Ta", VM_PART_OTHER },
        { "JFR Recorder Th", VM_PART_OTHER },
        { "JFR Sampler Thr", VM_PART_OTHER },
        { "Monitor Deflati", VM_PART_OTHER },
        { "Notification Th", VM_PART_OTHER },
        { "Reference Handl", VM_PART_OTHER },
        { "Service Thread", VM_PART_OTHER },
        { "Signal Dispatch", VM_PART_OTHER },
        { "Sweeper thread", VM_PART_OTHER },
        { "Attach Listener", VM_PART_OTHER },
        { "C1 Comp..hread0", VM_PART_C1 },
        { "C2 Comp..read10", VM_PART_C2 },
        { "G1 Refi..kers#0", VM_PART_GC },
        { "Shenand..ontrol", VM_PART_GC },
        { "Referen..andler", VM_PART_OTHER },
        { "Signal ..atcher", VM_PART_OTHER },
        { "Monitor..Thread", VM_PART_OTHER },
        { "Notific..Thread", VM_PART_OTHER },
        { "VM Peri..Thread", VM_PART_OTHER },
        { "Monitor..orker1", VM_PART_APPLICATION },
        { "Concurr..orker1", VM_PART_APPLICATION },
        { "mmprof agent", VM_PART_MMPROF },
        { "GC", VM_PART_APPLICATION },
        { "VM Thread 2", VM_PART_APPLICATION },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_NUMBER(rows[i].comm, vm_part_of(rows[i].comm), rows[i].part);
    for (int i = 0; i < VM_PARTS; i++)
        CHECK("each part has a name and a key",
              vm_part_name((enum vm_part)i) != NULL && vm_part_key((enum vm_part)i) != NULL);
}

int main(void)
{
    test_display();
    test_is();
    test_parameters();
    test_labels();
    test_parts();
    arena_free(&arena);
    return tap_done();
}
