#include "core/base/near.h"

/* Both are shorter than NEAR_BYTES. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[NEAR_BYTES];
    size_t n_b = strlen(b);
    for (unsigned j = 0; j <= n_b; j++)
        row[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i + 1;
        for (size_t j = 0; j < n_b; j++) {
            unsigned replace = diagonal + (a[i] != b[j]), shorter = row[j] + 1, longer = row[j + 1] + 1;
            diagonal = row[j + 1];
            row[j + 1] = shorter < longer ? shorter : longer;
            if (replace < row[j + 1])
                row[j + 1] = replace;
        }
    }
    return row[n_b];
}

void near_begin(struct near *near, const char *wanted)
{
    near->n = 0;
    snprintf(near->wanted, sizeof near->wanted, "%s", wanted);
}

void near_consider(struct near *near, const char *compared, const char *name)
{
    if (strlen(compared) >= NEAR_BYTES || strlen(name) >= NEAR_BYTES)
        return;
    unsigned d = distance(near->wanted, compared);
    size_t limit = strlen(near->wanted) / 2, at = near->n;
    if (d > (limit < 2 ? 2 : limit))
        return;
    while (at > 0 && d < near->distances[at - 1])
        at--;
    if (at == NEAR_N)
        return;
    if (near->n < NEAR_N)
        near->n++;
    for (size_t i = near->n - 1; i > at; i--) {
        near->distances[i] = near->distances[i - 1];
        memcpy(near->names[i], near->names[i - 1], NEAR_BYTES);
    }
    near->distances[at] = d;
    memcpy(near->names[at], name, strlen(name) + 1);
}

int near_next(const struct near *near, const char *what_to_do, struct err *err)
{
    char list[NEAR_N * (NEAR_BYTES + 8)];
    if (near->n == 0)
        return err_next(err, "%s", what_to_do);
    for (size_t i = 0, used = 0; i < near->n; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s'%s'",
                                 i == 0             ? ""
                                 : i + 1 == near->n ? " or "
                                                    : ", ",
                                 near->names[i]);
    return err_next(err, "did you mean %s? %s", list, what_to_do);
}
