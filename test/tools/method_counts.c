/*
 * How often a trace says that each method was entered, left, left by an exception, and is still running at the end:
 *
 *     method_counts trace.dat
 *     METHOD micro/Exceptions.level2(I)I 1000001 300000 700001 0
 *     RECORDS 8000004 LOST 0 CUT 0 UNNESTED 0
 *
 * Several traces are the files of one recording, in their order.
 *
 * UNNESTED counts the exits that leave another method than the one entered last.  A virtual thread's calls may end in
 * another thread than they began in.  A class that several class loaders
 * defined has several lines.
 */
#include "core/trace/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct counts {
    uint64_t entered, returned, thrown;
};

struct frames {
    uint32_t *methods;
    size_t n, n_room;
    size_t n_carrier; /* of n, while a virtual thread is here */
    bool is_mounting; /* what the virtual thread had left open comes with it */
    bool has_begun;   /* before that its calls of an earlier file go on */
};

static struct counts *methods;
static struct frames *threads;
static size_t n_methods, n_threads;
static uint64_t n_records, n_lost, n_unnested;

/* Room for index, zeroed. */
static void *grown(void *items, size_t *n, size_t index, size_t item_bytes)
{
    if (index < *n)
        return items;
    size_t n_new = 2 * index + 64;
    char *more = realloc(items, n_new * item_bytes);
    if (more == NULL) {
        fputs("method_counts: out of memory\n", stderr);
        exit(1);
    }
    memset(more + *n * item_bytes, 0, (n_new - *n) * item_bytes);
    *n = n_new;
    return more;
}

static void push(const struct trace_event *event)
{
    struct frames *frames = &threads[event->thread];
    frames->methods = grown(frames->methods, &frames->n_room, frames->n, sizeof *frames->methods);
    frames->methods[frames->n++] = event->method;
}

static void leave(const struct trace_event *event)
{
    struct frames *frames = &threads[event->thread];
    if (frames->n <= frames->n_carrier || frames->methods[frames->n - 1] != event->method)
        n_unnested++;
    if (frames->n > frames->n_carrier)
        frames->n--;
    if (event->kind == TRACE_EXIT)
        methods[event->method].returned++;
    else
        methods[event->method].thrown++;
}

/* A virtual thread comes or goes. */
static void change(const struct trace_event *event)
{
    struct frames *frames = &threads[event->thread];
    if (event->kind == TRACE_UNMOUNT)
        frames->n = frames->n_carrier;
    frames->n_carrier = event->kind == TRACE_MOUNT ? frames->n : 0;
    frames->is_mounting = event->kind == TRACE_MOUNT;
}

static void count(const struct trace_event *event)
{
    if (event->kind == TRACE_GAP)
        n_lost += event->count;
    if (event->kind >= TRACE_GAP)
        return;
    n_records += event->kind <= TRACE_UNWIND;
    methods = grown(methods, &n_methods, event->method, sizeof *methods);
    threads = grown(threads, &n_threads, event->thread, sizeof *threads);
    struct frames *frames = &threads[event->thread];
    /* A call that goes on elsewhere has had an exit. */
    methods[event->method].returned -= event->kind == TRACE_RESUME && !frames->is_mounting && frames->has_begun;
    frames->has_begun = frames->has_begun || event->kind < TRACE_RESUME || event->kind == TRACE_OPEN;
    if (event->kind < TRACE_RESUME)
        frames->is_mounting = false;
    methods[event->method].entered += event->kind == TRACE_ENTER || event->kind == TRACE_OPEN;
    if (event->kind == TRACE_ENTER || event->kind == TRACE_RESUME || event->kind == TRACE_OPEN)
        push(event);
    else if (event->kind == TRACE_EXIT || event->kind == TRACE_UNWIND)
        leave(event);
    else
        change(event);
}

static void print(const struct trace_reader *reader, bool is_cut)
{
    for (uint32_t id = 0; id < n_methods && id < trace_n_methods(reader); id++) {
        const struct trace_method *m = trace_method(reader, id);
        const struct counts *c = &methods[id];
        if (m != NULL && c->entered + c->returned + c->thrown > 0)
            printf("METHOD %s.%s%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", m->names.class_name,
                   m->names.method, m->names.descriptor, c->entered, c->returned, c->thrown,
                   c->entered - c->returned - c->thrown);
    }
    printf("RECORDS %" PRIu64 " LOST %" PRIu64 " CUT %d UNNESTED %" PRIu64 "\n", n_records, n_lost, is_cut, n_unnested);
}

/* Threads go on in the calls that it says they are in. */
static void begin_file(void)
{
    for (size_t i = 0; i < n_threads; i++) {
        threads[i].n = threads[i].n_carrier = 0;
        threads[i].is_mounting = threads[i].has_begun = false;
    }
}

int main(int argc, char **argv)
{
    struct err err = { "" };
    struct trace_reader *reader = NULL;
    struct trace_event event;
    bool is_cut = false;
    int rc = argc < 2 ? -1 : 0;
    for (int i = 1; i < argc && rc == 0; i++) {
        trace_close(reader);
        reader = NULL;
        begin_file();
        if ((rc = trace_open(&reader, argv[i], false, &err)) < 0)
            break;
        while ((rc = trace_next(reader, &event, &err)) > 0)
            count(&event);
        is_cut = is_cut || trace_is_cut(reader);
    }
    if (rc < 0) {
        fprintf(stderr, "method_counts: %s\n", argc < 2 ? "usage: method_counts TRACE..." : err.text);
        return 1;
    }
    print(reader, is_cut);
    for (size_t i = 0; i < n_threads; i++)
        free(threads[i].methods);
    free(threads);
    free(methods);
    trace_close(reader);
    return 0;
}
