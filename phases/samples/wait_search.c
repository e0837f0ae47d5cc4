#include "phases/samples/wait_search.h"

#define SHALLOW 2u /* methods of the program's own */

static bool begins(const char *text, const char *with)
{
    while (*with != '\0' && *text == *with) {
        text++;
        with++;
    }
    return *with == '\0';
}

static bool ends(const char *text, const char *with)
{
    size_t n = strlen(text), n_with = strlen(with);
    return n >= n_with && strcmp(text + n - n_with, with) == 0;
}

/*
 * Methods in which threads wait for work; a class by the end of its name, a method by its beginning.  A pool's own
 * methods are the JDK's, or a copy of them, as Tomcat has one; the others are called by whoever waits.
 */
static const struct {
    const char *class_name, *method;
    enum wait_method_kind kind;
} idle[] = {
    { "ThreadPoolExecutor", "getTask", WAIT_FOR_WORK },
    { "/ForkJoinPool", "awaitWork", WAIT_FOR_WORK },
    { "ThreadPoolExecutor", "runWorker", WAIT_OF_POOL },
    { "/ForkJoinWorkerThread", "run", WAIT_OF_POOL },
    { "java/net/ServerSocket", "accept", WAIT_FOR_WORK_INSIDE },
    { "sun/nio/ch/ServerSocketChannelImpl", "accept", WAIT_FOR_WORK_INSIDE },
    { "sun/nio/ch/SelectorImpl", "select", WAIT_FOR_WORK_INSIDE },
    { "java/lang/ref/ReferenceQueue", "remove", WAIT_FOR_WORK_INSIDE },
    { "java/util/TimerThread", "mainLoop", WAIT_FOR_WORK_INSIDE },
};

unsigned wait_method_kinds(const struct method_name *method)
{
    static const char *const runners[] = { "run", "runWorker", "getTask", "call", "exec", "mainLoop", "doRun" };
    const char *class_name = method->class_name;
    bool is_jdk = begins(class_name, "java/") || begins(class_name, "jdk/") || begins(class_name, "sun/");
    unsigned kinds = is_jdk ? WAIT_OF_JDK : 0;
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        if (begins(method->method, idle[i].method) && ends(class_name, idle[i].class_name))
            kinds |= idle[i].kind;
    for (size_t i = 0; i < sizeof runners / sizeof *runners; i++)
        if (strcmp(method->method, runners[i]) == 0)
            kinds |= WAIT_RUNNER;
    return kinds;
}

void wait_search_see(struct wait_search *search, const struct method_name *method, unsigned kinds)
{
    bool is_jdk = kinds & WAIT_OF_JDK, is_inside = search->own.where.class_name == NULL;
    search->is_idle = search->is_idle || (kinds & WAIT_FOR_WORK) || (is_inside && (kinds & WAIT_FOR_WORK_INSIDE));
    search->in_pool = search->in_pool || (kinds & WAIT_OF_POOL);
    bool is_own = !is_jdk && !(kinds & WAIT_OF_LIBRARY);
    search->own_is_outermost = is_inside && is_own;
    search->n_own += is_own;
    search->in_main = is_own && strcmp(method->method, "main") == 0;
    if (search->own_is_outermost)
        search->own = (struct wait_site){ .where = *method, .called = search->inside };
    if (!is_jdk && search->library.where.class_name == NULL)
        search->library = (struct wait_site){ .where = *method, .called = search->inside };
    if (is_jdk && (search->jdk.called.class_name == NULL || !(kinds & WAIT_RUNNER)))
        search->jdk.called = *method;
    search->inside = *method;
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

struct wait_site wait_search_end(const struct wait_search *search)
{
    struct wait_site site = search->own.where.class_name != NULL       ? search->own
                            : search->library.where.class_name != NULL ? search->library
                                                                       : search->jdk;
    site.is_idle = search->is_idle || has_no_work(&site, search->own_is_outermost);
    site.in_pool = search->in_pool;
    site.is_shallow = search->n_own <= SHALLOW && !search->in_main;
    return site;
}
