/* The argument that an entry's probe is given: where it is when the method begins, and how it is loaded. */
#include "core/agent/rewrite/rewrite_parts.h"

/* By the letter that a descriptor begins with: what loads it, what makes a long or a double of it, and the probe. */
static const struct {
    char letter;
    uint8_t load, convert;
    const char *probe, *descriptor;
} kinds[] = {
    { 'Z', OP_ILOAD, OP_I2L, "integer", "(IJ)I" },
    { 'B', OP_ILOAD, OP_I2L, "integer", "(IJ)I" },
    { 'C', OP_ILOAD, OP_I2L, "integer", "(IJ)I" },
    { 'S', OP_ILOAD, OP_I2L, "integer", "(IJ)I" },
    { 'I', OP_ILOAD, OP_I2L, "integer", "(IJ)I" },
    { 'J', OP_LLOAD, 0, "integer", "(IJ)I" },
    { 'F', OP_FLOAD, OP_F2D, "real", "(ID)I" },
    { 'D', OP_DLOAD, 0, "real", "(ID)I" },
    { 'L', OP_ALOAD, 0, "object", "(ILjava/lang/Object;)I" },
};

/* The letter of the n-th argument, and its local variable; 0: there is none. */
static char find_argument(struct span descriptor, bool is_static, bool is_constructor, unsigned n, uint16_t *local)
{
    struct cursor c = span_cursor(descriptor);
    *local = 0;
    if (n == 0)
        return is_static || is_constructor ? 0 : 'L';
    *local = is_static ? 0 : 1;
    if (cursor_u8(&c) != '(')
        return 0;
    for (unsigned i = 1; cursor_left(&c) > 0 && *c.at != ')'; i++) {
        char letter = *c.at == '[' ? 'L' : (char)*c.at;
        size_t n_bytes = classfile_type_bytes(c);
        if (n_bytes == 0)
            return 0;
        if (i == n)
            return letter;
        *local = (uint16_t)(*local + (letter == 'J' || letter == 'D' ? 2 : 1));
        cursor_bytes(&c, n_bytes);
    }
    return 0;
}

char rewrite_argument_type(const struct protocol_method *method, unsigned n)
{
    const struct span descriptor = { (const uint8_t *)method->descriptor.at, method->descriptor.n },
                      name = { (const uint8_t *)method->name.at, method->name.n };
    uint16_t local;
    return find_argument(descriptor, (method->access_flags & ACC_STATIC) != 0, span_is(name, "<init>"), n, &local);
}

void argument_find(struct rewrite_job *job)
{
    struct rewrite_argument *argument = &job->argument;
    bool is_static = (job->method->access_flags & ACC_STATIC) != 0;
    if (job->flag->argument == REWRITE_NO_ARGUMENT)
        return;
    char letter = find_argument(job->method->descriptor, is_static, job->constructor, (unsigned)job->flag->argument,
                                &argument->local);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (letter == kinds[i].letter) {
            argument->load = kinds[i].load;
            argument->convert = kinds[i].convert;
            argument->probe = kinds[i].probe;
            argument->descriptor = kinds[i].descriptor;
        }
}
