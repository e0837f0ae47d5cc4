/*
 * What the JVM does, in its order: classes that it loads, code that its compilers make and discard, collections.  A
 * line for each, with the time in data accesses of Java code.
 */
#include <mmprof_tool.h>

static void print(uint64_t time, const char *what, const char *name, const char *more)
{
    fprintf(mmprof_out, "%12llu %s %s%s%s\n", (unsigned long long)time, what, name, more[0] == '\0' ? "" : ".", more);
}

static void on_class(struct mmprof_class *class_of, struct mmprof_thread *thread, uint64_t time)
{
    (void)thread;
    print(time, "load", class_of->name, "");
}

static void on_compiled(const struct mmprof_code *code)
{
    print(code->time, code->is_by_c2 ? "compile-c2" : "compile-c1", code->method->class_name, code->method->name);
}

static void on_discarded(const struct mmprof_code *code)
{
    print(code->time, code->is_by_c2 ? "discard-c2" : "discard-c1", code->method->class_name, code->method->name);
}

static void on_collection(uint64_t time)
{
    print(time, "collection", "began", "");
}

static void on_collected(uint64_t time)
{
    print(time, "collection", "ended", "");
}

MMPROF_TOOL(.class_loaded = on_class, .method_compiled = on_compiled, .code_discarded = on_discarded,
            .collection_began = on_collection, .collection_ended = on_collected)
