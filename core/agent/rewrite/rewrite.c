#include "core/agent/rewrite/rewrite_parts.h"

#include "core/base/vec.h"

struct class_job {
    struct classfile file;
    const struct rewrite_policy *policy; /* borrowed */
    struct protocol_method about;        /* what choose() is told; the class's part stays */
    struct rewrite_pool pool;
    bool pool_is_open;
    struct rewrite_buffer methods; /* the new methods so far */
    uint8_t *starts;               /* owned; for the method at hand */
    struct rewrite_flag *flags;    /* owned; of the methods that were instrumented */
    size_t n_instrumented, room;
};

static int no_memory(struct err *err)
{
    err_set(err, "out of memory to rewrite a class");
    return err_next(err, "the class is left as it is; give the process more memory");
}

static struct wire_text text_of(struct span span)
{
    return (struct wire_text){ (const char *)span.at, span.n };
}

/* The verifier looks at a StackMapTable from Java 6 on; two of them it does not take. */
static enum rewrite_outcome find_frames(struct rewrite_job *job)
{
    struct cursor c = span_cursor(job->old->attributes);
    struct classfile_attribute a;
    job->write_frames = job->file->major >= CLASSFILE_MAJOR_FRAMES;
    while (classfile_next_attribute(job->file, &c, &a)) {
        if (!job->write_frames || !span_is(a.name, "StackMapTable"))
            continue;
        if (job->frames.at != NULL)
            return REWRITE_UNUSUAL;
        job->frames = a.body;
    }
    return REWRITE_DONE;
}

static enum rewrite_outcome plan_and_write(struct rewrite_job *job)
{
    unsigned arguments, result;
    if (job->old->max_locals == UINT16_MAX || job->old->max_stack == UINT16_MAX)
        return REWRITE_LIMITS;
    if (!classfile_method_slots(job->method->descriptor, &arguments, &result))
        return REWRITE_UNUSUAL;
    job->to = malloc((job->old->bytes.n + 1) * sizeof *job->to);
    if (job->to == NULL)
        return REWRITE_NO_MEMORY;
    layout_assign(job);
    enum rewrite_outcome outcome = find_frames(job);
    if (outcome == REWRITE_DONE)
        outcome = init_find_runs(job);
    if (outcome == REWRITE_DONE)
        outcome = code_write(job);
    free(job->to);
    free(job->runs);
    return outcome;
}

/* The method with its Code attribute replaced. */
static enum rewrite_outcome write_method(struct class_job *cj, const struct classfile_method *method,
                                         const struct classfile_code *code, const struct rewrite_flag *flag)
{
    struct rewrite_job job = { .file = &cj->file,
                               .method = method,
                               .old = code,
                               .flag = flag,
                               .probe_class = cj->policy->probe_class,
                               .pool = &cj->pool,
                               .out = &cj->methods,
                               .constructor = span_is(method->name, "<init>"),
                               .local = code->max_locals,
                               .starts = cj->starts };
    enum rewrite_outcome outcome = REWRITE_DONE;
    struct cursor c = span_cursor(method->attributes);
    struct classfile_attribute a;
    buffer_span(&cj->methods, method->head);
    buffer_big(&cj->methods, method->n_attributes, 2);
    while (outcome == REWRITE_DONE && classfile_next_attribute(&cj->file, &c, &a)) {
        if (span_is(a.name, "Code")) {
            outcome = plan_and_write(&job);
            continue;
        }
        buffer_big(&cj->methods, a.name_index, 2);
        buffer_big(&cj->methods, a.body.n, 4);
        buffer_span(&cj->methods, a.body);
    }
    return outcome;
}

/* Returns whether the method was instrumented; else nothing of it was written. */
static enum rewrite_outcome instrument(struct class_job *cj, const struct classfile_method *method,
                                       const struct classfile_code *code, const struct rewrite_flag *flag)
{
    if (!cj->pool_is_open) {
        cj->pool_is_open = true;
        if (pool_open(&cj->pool, &cj->file) < 0)
            return REWRITE_NO_MEMORY;
    }
    struct pool_mark mark = pool_mark(&cj->pool);
    size_t n_before = cj->methods.n;
    enum rewrite_outcome outcome = write_method(cj, method, code, flag);
    if (outcome != REWRITE_DONE) {
        pool_rollback(&cj->pool, mark);
        cj->methods.n = n_before;
    }
    return outcome;
}

/* Ask for one method with code, and instrument it.  Returns 1 when that was done, 0 when not, -1 with *err set. */
static int offer(struct class_job *cj, const struct classfile_method *method, const struct classfile_code *code,
                 struct err *err)
{
    static const enum rewrite_skip why[] = { [REWRITE_TOO_LARGE] = REWRITE_SKIP_TOO_LARGE,
                                             [REWRITE_LIMITS] = REWRITE_SKIP_LIMITS,
                                             [REWRITE_UNUSUAL] = REWRITE_SKIP_UNUSUAL };
    struct rewrite_flag flag = { .index = REWRITE_FLAG_FIELD, .argument = REWRITE_NO_ARGUMENT };
    struct protocol_method *about = &cj->about;
    enum rewrite_outcome outcome = layout_scan(code->bytes, cj->starts, &about->has_loop);
    about->name = text_of(method->name);
    about->descriptor = text_of(method->descriptor);
    about->access_flags = method->access_flags;
    about->code_bytes = (uint32_t)code->bytes.n;
    about->first_line = tables_first_line(&cj->file, code);
    if (!cj->policy->choose(cj->policy->context, about, &flag))
        return 0;
    flag.class_name[sizeof flag.class_name - 1] = flag.field_name[sizeof flag.field_name - 1] = '\0';
    if (outcome == REWRITE_DONE)
        outcome = instrument(cj, method, code, &flag);
    if (outcome == REWRITE_NO_MEMORY || vec_reserve(cj->flags, cj->room, cj->n_instrumented + 1) < 0)
        return no_memory(err);
    if (outcome == REWRITE_DONE) {
        cj->flags[cj->n_instrumented++] = flag;
        return 1;
    }
    if (cj->policy->skipped != NULL)
        cj->policy->skipped(cj->policy->context, about, &flag, why[outcome]);
    return 0;
}

/*
 * Two methods that HotSpot looks at in a way that no probe survives.
 *
 * It treats a class as finalizable when its finalize() has more than a 'return' (ClassFileParser::
 * set_precomputed_flags): a probe in Object's would make every object one.  And Object.<init> returns by an
 * instruction of its own, which registers those objects: C2 of JDK 17 crashes when a handler covers it.
 */
static bool is_special(const struct class_job *cj, const struct classfile_method *method,
                       const struct classfile_code *code)
{
    if (span_is(method->name, "finalize") && span_is(method->descriptor, "()V") && code->bytes.n == 1)
        return true;
    return span_is(method->name, "<init>") &&
           span_is(classfile_class_name(&cj->file, cj->file.this_class), "java/lang/Object");
}

static bool is_offered(const struct class_job *cj, const struct classfile_method *method,
                       const struct classfile_code *code)
{
    return !(method->access_flags & (ACC_ABSTRACT | ACC_NATIVE)) && !is_special(cj, method, code);
}

static int rewrite_method(struct class_job *cj, const struct classfile_method *method, struct err *err)
{
    struct classfile_code code;
    int rc = classfile_code(&cj->file, method, &code, err);
    if (rc > 0 && is_offered(cj, method, &code)) {
        cj->starts = calloc(code.bytes.n, 1);
        rc = cj->starts == NULL ? no_memory(err) : offer(cj, method, &code, err);
        free(cj->starts);
    } else if (rc > 0) {
        rc = 0;
    }
    if (rc == 0)
        buffer_span(&cj->methods, method->whole);
    return rc < 0 ? -1 : 0;
}

static int rewrite_methods(struct class_job *cj, struct err *err)
{
    const struct span bytes = cj->file.bytes;
    struct cursor c = cursor_over(bytes.at + cj->file.methods, cj->file.methods_end - cj->file.methods);
    uint16_t n = cursor_u16be(&c);
    for (unsigned i = 0; i < n; i++) {
        struct classfile_method method;
        if (classfile_next_method(&cj->file, &c, &method, err) < 0 || rewrite_method(cj, &method, err) < 0)
            return -1;
    }
    return cj->methods.failed ? no_memory(err) : 0;
}

/* Everything in the order of the class file, with the larger constant pool and the new methods. */
static int assemble(const struct class_job *cj, uint8_t **out, size_t *n_out, struct err *err)
{
    const struct classfile *f = &cj->file;
    const uint8_t *old = f->bytes.at;
    struct rewrite_buffer b = { .at = NULL };
    buffer_bytes(&b, old, 8);
    buffer_big(&b, cj->pool.n, 2);
    buffer_bytes(&b, old + 10, f->pool_end - 10);
    buffer_bytes(&b, cj->pool.added.at, cj->pool.added.n);
    buffer_bytes(&b, old + f->pool_end, f->methods + 2 - f->pool_end);
    buffer_bytes(&b, cj->methods.at, cj->methods.n);
    buffer_bytes(&b, old + f->methods_end, f->bytes.n - f->methods_end);
    if (b.failed) {
        buffer_free(&b);
        return no_memory(err);
    }
    *out = b.at;
    *n_out = b.n;
    return 0;
}

/* Returns the number of methods, or REWRITE_UNSURE. */
static int verify(const struct class_job *cj, uint8_t **out, size_t *n_out, struct err *err)
{
    const struct verify_expected expected = { cj->policy->probe_class, cj->flags, cj->n_instrumented };
    if (verify_class(&cj->file, (struct span){ *out, *n_out }, &expected, err) == 0)
        return (int)cj->n_instrumented;
    free(*out);
    *out = NULL;
    *n_out = 0;
    return REWRITE_UNSURE;
}

int rewrite_class(const uint8_t *bytes, size_t n_bytes, const struct rewrite_policy *policy, uint8_t **out,
                  size_t *n_out, struct err *err)
{
    struct class_job cj = { .policy = policy };
    int rc = -1;
    *out = NULL;
    *n_out = 0;
    if (classfile_open(&cj.file, bytes, n_bytes, err) < 0)
        goto out;
    cj.about.class_name = text_of(classfile_class_name(&cj.file, cj.file.this_class));
    cj.about.super_name = text_of(classfile_class_name(&cj.file, cj.file.super_class));
    cj.about.source = text_of(classfile_source(&cj.file));
    if (rewrite_methods(&cj, err) < 0)
        goto out;
    rc = cj.n_instrumented == 0 ? 0 : assemble(&cj, out, n_out, err);
    if (rc == 0 && cj.n_instrumented > 0)
        rc = verify(&cj, out, n_out, err);
out:
    free(cj.flags);
    pool_close(&cj.pool);
    buffer_free(&cj.methods);
    classfile_free(&cj.file);
    return rc;
}
