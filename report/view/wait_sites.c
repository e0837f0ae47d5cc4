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

bool wait_site_is_jdk(const char *class_name)
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

/* A thread that does nothing but take what others put into a queue. */
static bool takes_work(const struct wait_site *site)
{
    return site->where.class_name != NULL && site->jdk.class_name != NULL && strcmp(site->where.method, "run") == 0 &&
           strstr(site->jdk.class_name, "Queue") != NULL &&
           (strcmp(site->jdk.method, "take") == 0 || strcmp(site->jdk.method, "poll") == 0);
}

struct wait_site wait_site_of(const struct trace_reader *reader, uint32_t context)
{
    struct wait_site site = { .is_idle = false };
    const struct trace_context *node = context == 0 ? NULL : trace_context(reader, context);
    for (; node != NULL; node = node->parent == 0 ? NULL : trace_context(reader, node->parent)) {
        const struct trace_sampled_method *method = trace_sampled_method(reader, node->method);
        bool is_inside = site.where.class_name == NULL;
        if (method == NULL)
            break;
        site.is_idle = site.is_idle || is_idle_method(&method->names, is_inside);
        if (is_inside && !wait_site_is_jdk(method->names.class_name))
            site.where = method->names;
        else if (is_inside && (site.jdk.class_name == NULL || !is_runner(&method->names)))
            site.jdk = method->names;
    }
    site.is_idle = site.is_idle || takes_work(&site) || (site.where.class_name == NULL && site.jdk.class_name != NULL);
    return site;
}
