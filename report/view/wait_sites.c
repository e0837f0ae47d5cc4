#include "report/view/wait_sites.h"

#include <string.h>

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
    size_t n = strlen(text), n_with = strlen(with);
    return n >= n_with && strcmp(text + n - n_with, with) == 0;
}

static bool is_of_jdk(const char *class_name)
{
    return begins(class_name, "java/") || begins(class_name, "jdk/") || begins(class_name, "sun/");
}

/*
 * Methods in which threads wait for work; a class by the end of its name, a method by its beginning.  A pool's own
 * methods are the JDK's, or a copy of them, as Tomcat has one; the others are called by whoever waits.
 */
static const struct {
    const char *class_name, *method;
    bool is_anywhere; /* or only inside of the application's methods */
} idle[] = {
    { "ThreadPoolExecutor", "getTask", true },      { "/ForkJoinPool", "awaitWork", true },
    { "java/net/ServerSocket", "accept", false },   { "sun/nio/ch/ServerSocketChannelImpl", "accept", false },
    { "sun/nio/ch/SelectorImpl", "select", false }, { "java/lang/ref/ReferenceQueue", "remove", false },
    { "java/util/TimerThread", "mainLoop", false },
};

static bool is_idle_method(const struct method_name *method, bool is_inside)
{
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        if ((is_inside || idle[i].is_anywhere) && ends(method->class_name, idle[i].class_name) &&
            begins(method->method, idle[i].method))
            return true;
    return false;
}

/* Those by which threads and pools run tasks: nobody waits in them. */
static bool is_runner(const struct method_name *method)
{
    static const char *const names[] = { "run", "runWorker", "getTask", "call", "exec", "mainLoop", "doRun" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(method->method, names[i]) == 0)
            return true;
    return false;
}

/* A thread that does nothing but take what others put into a queue; or the first one, which waits for the end. */
static bool has_no_work(const struct wait_site *site, bool is_outermost)
{
    if (site->where.class_name == NULL || site->called.class_name == NULL)
        return site->where.class_name == NULL && site->called.class_name != NULL;
    if (is_outermost && strcmp(site->where.method, "main") == 0)
        return true;
    return strcmp(site->where.method, "run") == 0 && strstr(site->called.class_name, "Queue") != NULL &&
           (strcmp(site->called.method, "take") == 0 || strcmp(site->called.method, "poll") == 0);
}

/* What is being found: the innermost method of the program's, of a framework, of the JDK, with the one inside of it. */
struct site_search {
    struct wait_site own, framework, jdk;
    struct method_name inside;
};

static void see_method(struct site_search *search, const struct folding_list *libraries,
                       const struct method_name *method)
{
    bool is_jdk = is_of_jdk(method->class_name);
    bool is_own = !is_jdk && (libraries == NULL || !folding_has(libraries, method->class_name));
    if (is_own && search->own.where.class_name == NULL)
        search->own = (struct wait_site){ *method, search->inside, false };
    if (!is_jdk && search->framework.where.class_name == NULL)
        search->framework = (struct wait_site){ *method, search->inside, false };
    if (is_jdk && (search->jdk.called.class_name == NULL || !is_runner(method)))
        search->jdk.called = *method;
    search->inside = *method;
}

struct wait_site wait_site_of(const struct trace_reader *reader, const struct folding_list *libraries, uint32_t context)
{
    struct site_search search = { .inside.class_name = NULL };
    bool is_idle = false, is_outermost = false;
    const struct trace_context *node = context == 0 ? NULL : trace_context(reader, context);
    for (; node != NULL; node = node->parent == 0 ? NULL : trace_context(reader, node->parent)) {
        const struct trace_sampled_method *method = trace_sampled_method(reader, node->method);
        bool is_inside = search.own.where.class_name == NULL;
        if (method == NULL)
            break;
        is_idle = is_idle || is_idle_method(&method->names, is_inside);
        see_method(&search, libraries, &method->names);
        is_outermost = node->parent == 0 && is_inside && search.own.where.class_name != NULL;
    }
    struct wait_site site = search.own.where.class_name != NULL         ? search.own
                            : search.framework.where.class_name != NULL ? search.framework
                                                                        : search.jdk;
    site.is_idle = is_idle || has_no_work(&site, is_outermost);
    return site;
}
