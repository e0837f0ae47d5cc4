/*
 * Any bytes: a class file that is rewritten, or an error.  What was rewritten passes its check, and is rewritten once
 * more, since it must be well-formed.
 */
#include "core/agent/rewrite/rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool choose_all(void *context, const struct protocol_method *method, struct rewrite_flag *flag)
{
    (void)context;
    (void)method;
    snprintf(flag->class_name, sizeof flag->class_name, "G0");
    snprintf(flag->field_name, sizeof flag->field_name, "g0");
    return true;
}

/*
 * A doubt about what is made of a class that the JVM would take.  It refuses a constructor that calls another class'
 * <init> for 'this', a descriptor with a name that no class may have, and code whose tables name no instruction.
 */
static bool is_wrong(int rc, const struct err *err)
{
    return rc == REWRITE_UNSURE && strncmp(err->text, "<init>", 6) != 0 &&
           strcmp(err->text, "an added constant") != 0 && strstr(err->text, " of the original") == NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    static const struct rewrite_policy policy = { .probe_class = "P", .choose = choose_all };
    uint8_t *once, *twice;
    size_t n_once, n_twice;
    struct err err;
    int rc = rewrite_class(bytes, n_bytes, &policy, &once, &n_once, &err);
    if ((rc > 0) != (once != NULL) || is_wrong(rc, &err))
        abort();
    if (rc > 0) {
        rc = rewrite_class(once, n_once, &policy, &twice, &n_twice, &err);
        if (rc == -1 || is_wrong(rc, &err))
            abort();
        free(twice);
    }
    free(once);
    return 0;
}
