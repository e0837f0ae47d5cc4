#include "phases/sample_profile.h"
#include "phases/distribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int sample_profile_open(struct sample_profile *profile, uint64_t block_ns, uint64_t tree_bytes, struct err *err)
{
    memset(profile, 0, sizeof *profile);
    profile->block_ns = block_ns;
    return context_tree_open(&profile->tree, tree_bytes, err);
}

void sample_profile_free(struct sample_profile *profile)
{
    context_tree_free(&profile->tree);
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

/* In a recursion a method's time is that of its outermost call. */
static int count_methods(struct sample_profile *profile, uint32_t block, const struct profile_sample *sample)
{
    bool is_innermost = true;
    for (uint32_t i = 0; i < sample->n; i++) {
        uint32_t method = sample->methods[i], n_outside = sample->n - 1 - i;
        if (method == CONTEXT_NONE)
            continue;
        if (!has_rows(profile, method + 1))
            return -1;
        struct sample_row *row = &profile->rows[method];
        row->depth = n_outside < row->depth ? n_outside : row->depth;
        row->self.blocks[block] += is_innermost;
        row->total.blocks[block] += row->latest != profile->n_samples;
        row->latest = profile->n_samples;
        is_innermost = false;
    }
    return 0;
}

int sample_profile_add(struct sample_profile *profile, const struct profile_sample *sample)
{
    uint32_t block = block_of(profile, sample->time_ns);
    profile->n_samples++;
    profile->all.blocks[block]++;
    profile->groups[sample->group].blocks[block]++;
    if (sample->group != 0)
        return 0;
    uint32_t node = context_tree_add(&profile->tree, sample->tid, sample->n_same, sample->methods, sample->bytecodes,
                                     sample->n, sample->ns);
    return node == CONTEXT_NONE ? -1 : count_methods(profile, block, sample);
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
