#include "report/sample_rows.h"

#include "core/trace/recording_info.h"

#define BLOCK      UINT64_C(1000000) /* ticks */
#define TREE_BYTES (UINT64_C(1) << 20)
#define DEPTH_MOST 4096u

void sample_rows_open(const struct report_source *source, struct sample_profile *profile)
{
    sample_profile_open(profile, BLOCK, TREE_BYTES);
    profile->is_halved = info_text(source->reader, INFO_SAMPLE_HALVES) != NULL;
    profile->is_of_blocks =
        source->sampled->samples->has_waiting || info_text(source->reader, INFO_SAMPLE_MECHANISM) != NULL; /* polling */
}

void sample_rows_add(const struct report_source *source, size_t i, const uint32_t *rows, uint32_t n,
                     struct sample_profile *profile)
{
    const struct trace_kept_sample *sample = &source->sampled->samples->kept[i];
    const struct profile_sample add = { .time_ns = sample->ticks == TRACE_UNKNOWN ? 0 : sample->ticks,
                                        .ns = sample->weight_ns + sample->ready_ns,
                                        .n = n,
                                        .methods = rows };
    sample_profile_add(profile, &add);
}

static void add_sample(const struct report_source *source, const uint32_t *row_of, size_t i,
                       struct sample_profile *profile)
{
    const struct sampled_tree *sampled = source->sampled;
    const struct calltree *tree = source->tree;
    uint32_t rows[DEPTH_MOST], n = 0, node = sampled->leaf[i] == CALLTREE_NONE ? 0 : sampled->leaf[i];
    for (; node != 0 && tree->nodes[node].method < tree->n_methods; node = tree->nodes[node].parent)
        if (n < DEPTH_MOST && row_of[tree->nodes[node].method] != CALLTREE_NONE)
            rows[n++] = row_of[tree->nodes[node].method];
    sample_rows_add(source, i, rows, n, profile);
}

void sample_rows_profile(const struct report_source *source, const uint32_t *row_of, struct sample_profile *profile)
{
    sample_rows_open(source, profile);
    for (size_t i = 0; i < source->sampled->samples->n_kept; i++)
        if (!source->sampled->samples->kept[i].is_idle)
            add_sample(source, row_of, i, profile);
}

double sample_rows_error(const struct sample_share *share, double ticks, double all_ticks)
{
    return share->share > 0 ? share->error / share->share * ticks / all_ticks : NAN;
}
