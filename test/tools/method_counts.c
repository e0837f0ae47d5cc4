/*
 * How often a trace says that each method was entered, left, left by an exception, and is still running at the end:
 *
 *     method_counts trace.dat
 *     METHOD micro/Exceptions.level2(I)I 1000001 300000 700001 0
 *     RECORDS 8000004 LOST 0 CUT 0 UNNESTED 0
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
    /* A call that goes on elsewhere has had an exit. */
    methods[event->method].returned -= event->kind == TRACE_RESUME && !threads[event->thread].is_mounting;
    if (event->kind < TRACE_RESUME)
        threads[event->thread].is_mounting = false;
    methods[event->method].entered += event->kind == TRACE_ENTER || event->kind == TRACE_OPEN;
    if (event->kind == TRACE_ENTER || event->kind == TRACE_RESUME || event->kind == TRACE_OPEN)
        push(event);
    else if (event->kind == TRACE_EXIT || event->kind == TRACE_UNWIND)
        leave(event);
    else
        change(event);
}

static void print(const struct trace_reader *reader)
{
    for (uint32_t id = 0; id < n_methods && id < trace_n_methods(reader); id++) {
        const struct trace_method *m = trace_method(reader, id);
        const struct counts *c = &methods[id];
        if (m != NULL && c->entered + c->returned + c->thrown > 0)
            printf("METHOD %s.%s%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", m->names.class_name,
                   m->names.method, m->names.descriptor, c->entered, c->returned, c->thrown,
                   c->entered - c->returned - c->thrown);
    }
    printf("RECORDS %" PRIu64 " LOST %" PRIu64 " CUT %d UNNESTED %" PRIu64 "\n", n_records, n_lost,
           trace_is_cut(reader), n_unnested);
}

int main(int argc, char **argv)
{
    struct err err = { "" };
    struct trace_reader *reader;
    struct trace_event event;
    int got = -1;
    if (argc != 2) {
        fputs("usage: method_counts TRACE\n", stderr);
        return 1;
    }
    if (trace_open(&reader, argv[1], false, &err) == 0) {
        while ((got = trace_next(reader, &event, &err)) > 0)
            count(&event);
        print(reader);
        trace_close(reader);
    }
    if (got < 0)
        fprintf(stderr, "method_counts: %s\n", err.text);
    for (size_t i = 0; i < n_threads; i++)
        free(threads[i].methods);
    free(threads);
    free(methods);
    return got < 0 ? 1 : 0;
}
