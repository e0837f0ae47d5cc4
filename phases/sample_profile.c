#include "phases/sample_profile.h"
#include "phases/distribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sample_profile_init(struct sample_profile *profile, uint64_t block_ns)
{
    memset(profile, 0, sizeof *profile);
    profile->block_ns = block_ns;
}

void sample_profile_free(struct sample_profile *profile)
{
    stack_tree_free(&profile->tree);
    free(profile->rows);
    memset(profile, 0, sizeof *profile);
}

/* ---- blocks ---- */

static void join_pairs(struct sample_counts *counts)
{
    for (uint32_t i = 0; i < SAMPLE_BLOCKS; i++)
        counts->blocks[i] = i < SAMPLE_BLOCKS / 2 ? counts->blocks[2 * i] + counts->blocks[2 * i + 1] : 0;
}

static void join_all(struct sample_profile *profile)
{
    join_pairs(&profile->all);
    for (uint32_t i = 0; i < SAMPLE_GROUPS; i++)
        join_pairs(&profile->groups[i]);
    for (uint32_t i = 0; i < profile->n_rows; i++) {
        join_pairs(&profile->rows[i].total);
        join_pairs(&profile->rows[i].self);
    }
    profile->block_ns *= 2;
    profile->n_blocks = (profile->n_blocks + 1) / 2;
}

/* Rings of several CPUs are not in the order of time: what comes before the first sample is of its block. */
static uint32_t block_of(struct sample_profile *profile, uint64_t time_ns)
{
    if (profile->n_samples == 0)
        profile->first_ns = time_ns;
    uint64_t since_ns = time_ns < profile->first_ns ? 0 : time_ns - profile->first_ns;
    while (since_ns / profile->block_ns >= SAMPLE_BLOCKS)
        join_all(profile);
    uint32_t block = (uint32_t)(since_ns / profile->block_ns);
    if (block >= profile->n_blocks)
        profile->n_blocks = block + 1;
    return block;
}

/* ---- adding ---- */

static bool has_rows(struct sample_profile *profile, uint32_t n)
{
    uint32_t room = profile->rows_room == 0 ? 256 : profile->rows_room;
    while (room < n)
        room *= 2;
    if (room > profile->rows_room) {
        struct sample_row *rows = realloc(profile->rows, room * sizeof *rows);
        if (rows == NULL)
            return false;
        profile->rows = rows;
        profile->rows_room = room;
    }
    if (n > profile->n_rows) {
        for (; profile->n_rows < n; profile->n_rows++)
            profile->rows[profile->n_rows] = (struct sample_row){ .depth = UINT32_MAX };
    }
    return true;
}

static bool is_among(const uint32_t *methods, uint32_t n, uint32_t method)
{
    for (uint32_t i = 0; i < n; i++)
        if (methods[i] == method)
            return true;
    return false;
}

/* In a recursion a method's time is that of its outermost call. */
static int count_methods(struct sample_profile *profile, uint32_t block, const uint32_t *methods, uint32_t n)
{
    bool is_innermost = true;
    for (uint32_t i = 0; i < n; i++) {
        if (methods[i] == STACK_TREE_NONE)
            continue;
        if (!has_rows(profile, methods[i] + 1))
            return -1;
        struct sample_row *row = &profile->rows[methods[i]];
        row->depth = n - 1 - i < row->depth ? n - 1 - i : row->depth;
        row->self.blocks[block] += is_innermost;
        row->total.blocks[block] += !is_among(methods, i, methods[i]);
        is_innermost = false;
    }
    return 0;
}

static int count_contexts(struct sample_profile *profile, const uint32_t *methods, uint32_t n)
{
    uint32_t node = 0;
    for (uint32_t i = n; i-- > 0 && node != STACK_TREE_NONE;)
        if (methods[i] != STACK_TREE_NONE)
            node = stack_tree_step(&profile->tree, node, methods[i], 1);
    return node == STACK_TREE_NONE ? -1 : 0;
}

int sample_profile_add(struct sample_profile *profile, uint64_t time_ns, uint32_t group, const uint32_t *methods,
                       uint32_t n)
{
    uint32_t block = block_of(profile, time_ns);
    if (group == 0 && (count_methods(profile, block, methods, n) < 0 || count_contexts(profile, methods, n) < 0))
        return -1;
    profile->n_samples++;
    profile->all.blocks[block]++;
    profile->groups[group].blocks[block]++;
    return 0;
}

/* ---- shares ---- */

static double sum_of(const struct sample_counts *counts, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += counts->blocks[i];
    return sum;
}

static struct sample_share share_of(const struct sample_profile *profile, const struct sample_counts *counts)
{
    uint32_t n = profile->n_blocks;
    double all = sum_of(&profile->all, n), some = sum_of(counts, n), squares = 0;
    struct sample_share share = { (uint64_t)some, some / all, NAN };
    if (n < SAMPLE_BLOCKS_MIN || some < 1)
        return share;
    for (uint32_t i = 0; i < n; i++) {
        double difference = counts->blocks[i] - share.share * profile->all.blocks[i];
        squares += difference * difference;
    }
    share.error = sqrt(n / (n - 1.0) * squares) / all * distribution_t_limit(0.05, n - 1.0);
    return share;
}

static const struct sample_row none;

static const struct sample_row *row_of(const struct sample_profile *profile, uint32_t method)
{
    return method < profile->n_rows ? &profile->rows[method] : &none;
}

struct sample_share sample_profile_total(const struct sample_profile *profile, uint32_t method)
{
    return share_of(profile, &row_of(profile, method)->total);
}

struct sample_share sample_profile_self(const struct sample_profile *profile, uint32_t method)
{
    return share_of(profile, &row_of(profile, method)->self);
}

struct sample_share sample_profile_group(const struct sample_profile *profile, uint32_t group)
{
    return share_of(profile, &profile->groups[group]);
}
