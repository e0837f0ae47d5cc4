/* Calling contexts and classes in a recording of several files: each file numbers those that it names. */
#include "core/trace/writer_kept.h"

#include "core/base/xalloc.h"

void kept_context(struct trace_writer *writer, const struct trace_context *context)
{
    struct writer_kept *kept = writer->kept;
    xgrow_zeroed(kept->named, kept->named_room, (size_t)context->method + 1);
    if (context->named != NULL) {
        struct sink s = writer_begin(writer, CHUNK_CONTEXTS);
        writer_put_named(&s, context->named);
        kept_define(writer, KEPT_SAMPLED_METHODS, context->method, &s);
    }
    *xpush(kept->contexts, kept->contexts_room, kept->n_contexts) =
        (struct kept_context){ context->parent, context->method, context->call_site, 0, 0 };
}

/* The parent is in the file. */
static int write_context(struct trace_writer *writer, struct kept_context *context, uint32_t parent, struct err *err)
{
    struct writer_kept *kept = writer->kept;
    struct kept_named *named = &kept->named[context->method];
    const struct kept_list *methods = &kept->lists[KEPT_SAMPLED_METHODS];
    const struct kept_entry *entry = context->method < methods->n ? &methods->all[context->method] : NULL;
    bool is_new = named->file != kept->file;
    if (entry == NULL || entry->n == 0)
        return err_set(err, "a calling context names a method that was not described");
    if (is_new)
        *named = (struct kept_named){ kept->n_named++, kept->file, NULL };
    struct sink s = writer_begin(writer, CHUNK_CONTEXTS);
    if (writer->pending_used[CHUNK_CONTEXTS] == 0)
        sink_number(&s, writer->n_contexts);
    sink_number(&s, parent);
    sink_number(&s, (uint64_t)(int64_t)(context->call_site + 1));
    sink_number(&s, (uint64_t)named->number << 1 | is_new);
    if (is_new)
        sink_bytes(&s, methods->bytes + entry->at, entry->n);
    context->number = ++writer->n_contexts;
    context->file = kept->file;
    return writer_finish(writer, CHUNK_CONTEXTS, &s, err);
}

/* Callers first: *in_file is the last one's whose caller is in the file already. */
int kept_refer_context(struct trace_writer *writer, uint32_t number, uint32_t *in_file, struct err *err)
{
    struct writer_kept *kept = writer->kept;
    *in_file = number;
    if (kept == NULL || number == 0)
        return 0;
    struct kept_context *context = &kept->contexts[number - 1];
    while (context->file != kept->file) {
        struct kept_context *missing = context;
        uint32_t parent = 0;
        while (missing->parent != 0 && kept->contexts[missing->parent - 1].file != kept->file)
            missing = &kept->contexts[missing->parent - 1];
        if (missing->parent != 0)
            parent = kept->contexts[missing->parent - 1].number;
        if (write_context(writer, missing, parent, err) < 0)
            return -1;
    }
    *in_file = context->number;
    return 0;
}

void kept_class(struct trace_writer *writer, uint32_t number, uint32_t *in_file, const char **name)
{
    struct writer_kept *kept = writer->kept;
    *in_file = number;
    if (kept == NULL)
        return;
    xgrow_zeroed(kept->classes, kept->classes_room, (size_t)number + 1);
    struct kept_named *class = &kept->classes[number];
    if (*name != NULL)
        class->name = arena_text(&kept->arena, *name, strlen(*name));
    bool is_new = class->file != kept->file;
    if (is_new) {
        class->number = kept->n_classes++;
        class->file = kept->file;
    }
    *name = is_new ? class->name : NULL;
    *in_file = class->number;
}
