#include "core/emu/model/sim_foreseen.h"

/* ---- following registers ---- */

void sim_foresight_begin(struct sim_foresight *foresight)
{
    for (uint8_t i = 0; i <= SIM_NO_REGISTER; i++)
        foresight->registers[i] = (struct sim_followed){ i, 0 };
    foresight->n = 0;
}

/* An instruction's addressing, by the registers at the block's begin.  Returns whether it can be told. */
static bool addressing_at_begin(const struct sim_foresight *foresight, const struct sim_addressing *now,
                                struct sim_addressing *then)
{
    const struct sim_followed *base = &foresight->registers[now->base], *index = &foresight->registers[now->index];
    uint64_t offset = (uint64_t)now->offset + (uint64_t)base->plus + ((uint64_t)index->plus << now->shift);
    *then = (struct sim_addressing){ base->from, index->from, now->shift, (int64_t)offset };
    return base->from != SIM_ANYTHING && index->from != SIM_ANYTHING;
}

static void follow(struct sim_foresight *foresight, const struct sim_operands *operands)
{
    struct sim_followed *registers = foresight->registers, known = { SIM_ANYTHING, 0 };
    if (operands->to != SIM_NO_REGISTER) {
        known = registers[operands->from];
        known.plus = (int64_t)((uint64_t)known.plus + (uint64_t)operands->plus);
    }
    for (unsigned i = 0; i < SIM_N_REGISTERS; i++)
        if ((operands->written >> i & 1) != 0)
            registers[i].from = SIM_ANYTHING;
    if (operands->to != SIM_NO_REGISTER)
        registers[operands->to] = known;
}

bool sim_foresight_add(struct sim_foresight *foresight, const struct sim_operands *operands, uint64_t instruction,
                       bool is_told)
{
    bool is_foreseen = operands->is_known && !is_told && foresight->n + operands->n_accesses <= SIM_FORESEEN_MAX;
    for (uint32_t i = 0; is_foreseen && i < operands->n_accesses; i++) {
        struct sim_member *member = &foresight->members[foresight->n + i];
        *member = (struct sim_member){ operands->accesses[i], instruction };
        is_foreseen = addressing_at_begin(foresight, &operands->accesses[i].addressing, &member->operand.addressing);
    }
    if (is_foreseen)
        foresight->n += operands->n_accesses;
    follow(foresight, operands);
    return is_foreseen;
}

/* ---- groups ---- */

struct grouping {
    uint32_t n_groups;
    uint8_t group_of[SIM_FORESEEN_MAX];
    struct sim_group groups[SIM_FORESEEN_MAX];
    struct sim_group_rest rest[SIM_FORESEEN_MAX];
};

static struct sim_group make_group(const struct sim_operand *one)
{
    const struct sim_addressing *addressing = &one->addressing;
    bool has_base = addressing->base != SIM_NO_REGISTER, has_index = addressing->index != SIM_NO_REGISTER;
    return (struct sim_group){ .offset = addressing->offset,
                               .base = has_base ? addressing->base : 0,
                               .index = has_index ? addressing->index : 0,
                               .shift = has_index ? addressing->shift : 0,
                               .base_mask = has_base ? -1 : 0,
                               .index_mask = has_index ? -1 : 0,
                               .span = (uint8_t)(one->n_bytes - 1) };
}

static bool is_simple(const struct sim_group *group)
{
    return group->base_mask != 0 && group->index_mask == 0;
}

/* Is the access near those of the group?  It is put there then. */
static bool join(struct sim_group *group, const struct sim_operand *one)
{
    const struct sim_group own = make_group(one);
    if (group->base != own.base || group->index != own.index || group->shift != own.shift ||
        group->base_mask != own.base_mask || group->index_mask != own.index_mask)
        return false;
    int64_t first = own.offset < group->offset ? own.offset : group->offset;
    int64_t last = group->offset + group->span, end = own.offset + own.span;
    last = end > last ? end : last;
    if ((uint64_t)last - (uint64_t)first >= SIM_GROUP_BYTES)
        return false;
    group->offset = first;
    group->span = (uint8_t)(last - first);
    return true;
}

/* Where in the group, all of whose accesses are known, this one of them is. */
static void put_member(const struct sim_group *group, struct sim_group_rest *rest, const struct sim_operand *one)
{
    unsigned first = (unsigned)(one->addressing.offset - group->offset), last = first + one->n_bytes - 1;
    rest->inner |= ((UINT64_C(2) << last) - 1) & ~((UINT64_C(2) << first) - 1);
    if (!one->is_store)
        return;
    rest->first_written = first < rest->first_written ? (uint8_t)first : rest->first_written;
    rest->last_written = last > rest->last_written ? (uint8_t)last : rest->last_written;
}

static void group_members(const struct sim_foresight *foresight, struct grouping *grouping)
{
    grouping->n_groups = 0;
    for (uint32_t i = 0; i < foresight->n; i++) {
        const struct sim_operand *one = &foresight->members[i].operand;
        uint32_t g = 0;
        while (g < grouping->n_groups && !join(&grouping->groups[g], one))
            g++;
        if (g == grouping->n_groups) {
            grouping->groups[g] = make_group(one);
            grouping->groups[g].stores = one->is_store ? SIM_FIRST_STORES : 0;
            grouping->rest[g] = (struct sim_group_rest){ .first_written = UINT8_MAX };
            grouping->n_groups++;
        }
        grouping->groups[g].n++;
        grouping->groups[g].stores |= one->is_store ? SIM_SOME_STORES : 0;
        grouping->group_of[i] = (uint8_t)g;
    }
    for (uint32_t i = 0; i < foresight->n; i++) {
        uint32_t g = grouping->group_of[i];
        put_member(&grouping->groups[g], &grouping->rest[g], &foresight->members[i].operand);
    }
}

struct sim_foresight_bytes sim_foresight_bytes(const struct sim_foresight *foresight)
{
    struct grouping grouping;
    if (foresight->n == 0)
        return (struct sim_foresight_bytes){ 0 };
    group_members(foresight, &grouping);
    return (struct sim_foresight_bytes){ grouping.n_groups * sizeof(struct sim_group),
                                         grouping.n_groups * sizeof(struct sim_group_rest) +
                                             foresight->n * sizeof(struct sim_member) };
}

struct sim_foreseen sim_foresight_make(const struct sim_foresight *foresight, struct sim_group *groups, void *rest)
{
    struct grouping grouping;
    group_members(foresight, &grouping);
    struct sim_group_rest *of = rest;
    struct sim_member *members = (struct sim_member *)(void *)(of + grouping.n_groups);
    struct sim_foreseen made = { .rest = of, .members = members };
    for (uint32_t turn = 0; turn < 2; turn++) { /* simple ones, and the others */
        for (uint32_t g = 0; g < grouping.n_groups; g++) {
            if (is_simple(&grouping.groups[g]) != (turn == 0))
                continue;
            *groups++ = grouping.groups[g];
            *of = grouping.rest[g];
            of++->members = members;
            for (uint32_t i = 0; i < foresight->n; i++)
                if (grouping.group_of[i] == g)
                    *members++ = foresight->members[i];
            made.n_simple = (uint8_t)(made.n_simple + (turn == 0));
            made.n_general = (uint8_t)(made.n_general + (turn == 1));
        }
    }
    for (uint32_t i = 0; i < foresight->n; i++) {
        made.n_loads = (uint8_t)(made.n_loads + !foresight->members[i].operand.is_store);
        made.n_stores = (uint8_t)(made.n_stores + foresight->members[i].operand.is_store);
    }
    return made;
}
