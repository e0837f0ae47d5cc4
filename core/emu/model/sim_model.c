#include "core/emu/model/sim_machine.h"

enum key_kind { KEY_NUMBER, KEY_SIZE, KEY_CYCLES, KEY_WORD };

/* What a file may say: one row for reading, printing and errors. */
struct model_key {
    const char *name;
    size_t offset; /* of a uint32_t in struct sim_model */
    enum key_kind kind;
    uint32_t max;
    const char *words; /* the values of a KEY_WORD from 0, or NULL */
};

#define AT(member)     offsetof(struct sim_model, member)
#define SIZE_MAX_BYTES (UINT32_C(64) << 20)
#define CYCLES_MAX     UINT32_C(1000000) /* hundredths */

static const struct model_key keys[] = {
    { "l1i.size", AT(l1i.size_bytes), KEY_SIZE, SIZE_MAX_BYTES, NULL },
    { "l1i.ways", AT(l1i.n_ways), KEY_NUMBER, 64, NULL },
    { "l1i.line", AT(l1i.line_bytes), KEY_SIZE, 4096, NULL },
    { "l1d.size", AT(l1d.size_bytes), KEY_SIZE, SIZE_MAX_BYTES, NULL },
    { "l1d.ways", AT(l1d.n_ways), KEY_NUMBER, 64, NULL },
    { "l1d.line", AT(l1d.line_bytes), KEY_SIZE, 4096, NULL },
    { "l1d.write", AT(write), KEY_WORD, 1, "back through" },
    { "l1d.allocate", AT(allocate), KEY_WORD, 1, "yes no" },
    { "l2.size", AT(l2.size_bytes), KEY_SIZE, SIZE_MAX_BYTES, NULL },
    { "l2.ways", AT(l2.n_ways), KEY_NUMBER, 64, NULL },
    { "l2.line", AT(l2.line_bytes), KEY_SIZE, 4096, NULL },
    { "l2.inclusion", AT(inclusion), KEY_WORD, 2, "independent inclusive exclusive" },
    { "l2.shared", AT(l2_shared), KEY_WORD, 1, "no yes" },
    { "itlb.entries", AT(itlb.n_entries), KEY_NUMBER, 65536, NULL },
    { "itlb.ways", AT(itlb.n_ways), KEY_NUMBER, 1024, NULL },
    { "dtlb.entries", AT(dtlb.n_entries), KEY_NUMBER, 65536, NULL },
    { "dtlb.ways", AT(dtlb.n_ways), KEY_NUMBER, 1024, NULL },
    { "tlb2.entries", AT(tlb2.n_entries), KEY_NUMBER, 65536, NULL },
    { "tlb2.ways", AT(tlb2.n_ways), KEY_NUMBER, 1024, NULL },
    { "tlb2.shared", AT(tlb2_shared), KEY_WORD, 1, "no yes" },
    { "page.size", AT(page_bytes), KEY_SIZE, UINT32_C(1) << 30, NULL },
    { "gshare.bits", AT(gshare_bits), KEY_NUMBER, 24, NULL },
    { "gshare.history", AT(history_bits), KEY_NUMBER, 24, NULL },
    { "targets.bits", AT(target_bits), KEY_NUMBER, 20, NULL },
    { "targets.path", AT(path_bits), KEY_NUMBER, 20, NULL },
    { "returns.entries", AT(n_returns), KEY_NUMBER, 256, NULL },
    { "cycles.instruction", AT(cost.instruction), KEY_CYCLES, CYCLES_MAX, NULL },
    { "cycles.l1-miss", AT(cost.l1_miss), KEY_CYCLES, CYCLES_MAX, NULL },
    { "cycles.l2-miss", AT(cost.l2_miss), KEY_CYCLES, CYCLES_MAX, NULL },
    { "cycles.tlb2-hit", AT(cost.tlb2_hit), KEY_CYCLES, CYCLES_MAX, NULL },
    { "cycles.tlb-walk", AT(cost.tlb_walk), KEY_CYCLES, CYCLES_MAX, NULL },
    { "cycles.mispredict", AT(cost.mispredict), KEY_CYCLES, CYCLES_MAX, NULL },
};

#define N_KEYS (sizeof keys / sizeof keys[0])

static uint32_t *value_of(struct sim_model *model, const struct model_key *key)
{
    return (uint32_t *)(void *)((char *)model + key->offset);
}

/* ---- checking ---- */

static bool is_power_of_two(uint32_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

static int check_cache(const char *name, const struct sim_cache_model *cache, bool is_needed, struct err *err)
{
    if (cache->size_bytes == 0 && !is_needed)
        return 0;
    if (!is_power_of_two(cache->line_bytes) || cache->line_bytes < 8) {
        err_set(err, "%s.line is %" PRIu32 " bytes", name, cache->line_bytes);
        return err_next(err, "give a power of two from 8 to 4096");
    }
    uint32_t set_bytes = cache->n_ways * cache->line_bytes;
    if (cache->n_ways == 0 || cache->size_bytes % set_bytes != 0 || !is_power_of_two(cache->size_bytes / set_bytes)) {
        err_set(err,
                "%s has %" PRIu32 " bytes in %" PRIu32 " ways of lines of %" PRIu32 " bytes: no power of two of sets",
                name, cache->size_bytes, cache->n_ways, cache->line_bytes);
        return err_next(err, "give a %s.size that is ways times line times 1, 2, 4, ...", name);
    }
    return 0;
}

static int check_tlb(const char *name, const struct sim_tlb_model *tlb, struct err *err)
{
    if (tlb->n_entries == 0)
        return 0;
    if (tlb->n_ways == 0 || tlb->n_entries % tlb->n_ways != 0 || !is_power_of_two(tlb->n_entries / tlb->n_ways)) {
        err_set(err, "%s has %" PRIu32 " entries in %" PRIu32 " ways: no power of two of sets", name, tlb->n_entries,
                tlb->n_ways);
        return err_next(err, "give %s.entries that are ways times 1, 2, 4, ... (as many ways: fully associative)",
                        name);
    }
    return 0;
}

static int check_lines(const struct sim_model *model, struct err *err)
{
    uint32_t l1i_bytes = model->l1i.size_bytes == 0 ? model->l1d.line_bytes : model->l1i.line_bytes;
    uint32_t largest = l1i_bytes > model->l1d.line_bytes ? l1i_bytes : model->l1d.line_bytes;
    if (largest > model->l2.line_bytes) {
        err_set(err, "a line of L1 has %" PRIu32 " bytes, one of L2 %" PRIu32, largest, model->l2.line_bytes);
        return err_next(err, "give an l2.line of %" PRIu32 " or more", largest);
    }
    if (model->inclusion == SIM_EXCLUSIVE &&
        (l1i_bytes != model->l2.line_bytes || model->l1d.line_bytes != model->l2.line_bytes)) {
        err_set(err, "an exclusive L2 takes lines over from L1, but theirs differ in size");
        return err_next(err, "give equal l1i.line, l1d.line and l2.line, or another l2.inclusion");
    }
    if (model->inclusion == SIM_EXCLUSIVE && model->write == SIM_WRITE_THROUGH) {
        err_set(err, "an exclusive L2 has no line of L1's to write through to");
        return err_next(err, "give 'l1d.write back', or another l2.inclusion");
    }
    if (model->inclusion == SIM_INCLUSIVE && model->l2_shared) {
        err_set(err, "what leaves an inclusive L2 leaves L1, and a shared L2 has no thread's L1");
        return err_next(err, "give 'l2.inclusion independent', or 'l2.shared no'");
    }
    return 0;
}

int sim_model_check(const struct sim_model *model, struct err *err)
{
    if (check_cache("l1i", &model->l1i, false, err) < 0 || check_cache("l1d", &model->l1d, true, err) < 0 ||
        check_cache("l2", &model->l2, true, err) < 0 || check_tlb("itlb", &model->itlb, err) < 0 ||
        check_tlb("dtlb", &model->dtlb, err) < 0 || check_tlb("tlb2", &model->tlb2, err) < 0 ||
        check_lines(model, err) < 0)
        return -1;
    if (!is_power_of_two(model->page_bytes) || model->page_bytes < model->l2.line_bytes || model->page_bytes < 1024) {
        err_set(err, "a page has %" PRIu32 " bytes", model->page_bytes);
        return err_next(err, "give a page.size that is a power of two, from 1024 bytes and a line of L2 on");
    }
    if (model->history_bits > model->gshare_bits || model->path_bits > model->target_bits) {
        err_set(err, "a predictor's history is longer than its table's index");
        return err_next(err, "give at most gshare.bits as gshare.history, and targets.bits as targets.path");
    }
    return 0;
}

/* ---- reading ---- */

static const struct model_key *find_key(const char *name)
{
    for (size_t i = 0; i < N_KEYS; i++)
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

static int parse_word(const char *text, const char *words, uint32_t *value)
{
    size_t n = strlen(text);
    for (*value = 0; *words != '\0'; (*value)++) {
        size_t n_word = strcspn(words, " ");
        if (n_word == n && strncmp(words, text, n) == 0)
            return 0;
        words += n_word + (words[n_word] == ' ');
    }
    return -1;
}

/* Digits; then a unit, or a point and one or two digits. */
static int parse_value(const struct model_key *key, const char *text, uint32_t *value)
{
    uint64_t n = 0;
    if (key->kind == KEY_WORD)
        return parse_word(text, key->words, value);
    size_t n_digits = strspn(text, "0123456789");
    if (n_digits == 0 || n_digits > 9)
        return -1;
    for (size_t i = 0; i < n_digits; i++)
        n = n * 10 + (uint64_t)(text[i] - '0');
    text += n_digits;
    if (key->kind == KEY_SIZE && (*text == 'K' || *text == 'M'))
        n <<= *text++ == 'K' ? 10 : 20;
    if (key->kind == KEY_CYCLES) {
        n *= 100;
        if (*text == '.' && strspn(text + 1, "0123456789") > 0) {
            n += (uint64_t)(text[1] - '0') * 10;
            text += 2;
            if (*text >= '0' && *text <= '9')
                n += (uint64_t)(*text++ - '0');
        }
    }
    if (*text != '\0' || n > key->max)
        return -1;
    *value = (uint32_t)n;
    return 0;
}

static int say_values(const struct model_key *key, struct err *err)
{
    switch (key->kind) {
    case KEY_NUMBER:
        return err_next(err, "give a number up to %" PRIu32, key->max);
    case KEY_SIZE:
        return err_next(err, "give bytes, such as 64 or 32K or 1M, up to %" PRIu32, key->max);
    case KEY_CYCLES:
        return err_next(err, "give cycles, such as 10 or 0.25, up to %" PRIu32, key->max / 100);
    default:
        return err_next(err, "give one of: %s", key->words);
    }
}

struct model_reading {
    const char *file;
    uint32_t line;
    bool has_base, is_set[N_KEYS];
    struct sim_model *model;
    struct err *err;
};

static int read_like(struct model_reading *r, const char *value)
{
    for (size_t i = 0; i < N_KEYS; i++)
        if (r->is_set[i] || r->has_base) {
            err_set(r->err, "'%s', line %" PRIu32 ": 'like' comes too late", r->file, r->line);
            return err_next(r->err, "let 'like %s' be the first line: the others change it", value);
        }
    char name[SIM_NAME_BYTES];
    memcpy(name, r->model->name, sizeof name);
    if (sim_model_find(value, r->model, r->err) < 0) {
        char prefix[128];
        snprintf(prefix, sizeof prefix, "'%.80s', line %" PRIu32, r->file, r->line);
        return err_prefix(r->err, prefix);
    }
    memcpy(r->model->name, name, sizeof name);
    r->has_base = true;
    return 0;
}

static int read_pair(struct model_reading *r, const char *name, const char *value)
{
    if (strcmp(name, "like") == 0)
        return read_like(r, value);
    const struct model_key *key = find_key(name);
    if (key == NULL) {
        err_set(r->err, "'%s', line %" PRIu32 ": there is no key '%s'", r->file, r->line, name);
        return err_next(r->err, "run 'mmprof list --model %s', which prints all keys", SIM_MODEL_DEFAULT);
    }
    if (r->is_set[key - keys]) {
        err_set(r->err, "'%s', line %" PRIu32 ": '%s' is there twice", r->file, r->line, name);
        return err_next(r->err, "remove one of them");
    }
    if (parse_value(key, value, value_of(r->model, key)) < 0) {
        err_set(r->err, "'%s', line %" PRIu32 ": bad value '%s' of '%s'", r->file, r->line, value, name);
        return say_values(key, r->err);
    }
    r->is_set[key - keys] = true;
    return 0;
}

#define BLANKS     " \t\r"
#define LINE_BYTES 128

/* One line, without what ends it: blank, a comment, or a key and a value. */
static int read_line(struct model_reading *r, const char *line, size_t n)
{
    char text[LINE_BYTES];
    const char *comment = memchr(line, '#', n);
    if (comment != NULL)
        n = (size_t)(comment - line);
    if (n >= sizeof text || memchr(line, '\0', n) != NULL) {
        err_set(r->err, "'%s', line %" PRIu32 ": it is no line of a model", r->file, r->line);
        return err_next(r->err, "write a key and a value, such as 'l2.size 1M'");
    }
    memcpy(text, line, n);
    text[n] = '\0';
    char *rest = NULL, *name = strtok_r(text, BLANKS, &rest);
    if (name == NULL)
        return 0;
    const char *value = strtok_r(NULL, BLANKS, &rest);
    if (value == NULL || strtok_r(NULL, BLANKS, &rest) != NULL) {
        err_set(r->err, "'%s', line %" PRIu32 ": '%s' has %s value", r->file, r->line, name,
                value == NULL ? "no" : "more than one");
        return err_next(r->err, "write a key and a value, such as 'l2.size 1M'");
    }
    return read_pair(r, name, value);
}

static int check_complete(const struct model_reading *r)
{
    for (size_t i = 0; i < N_KEYS && !r->has_base; i++)
        if (!r->is_set[i] && strcmp(keys[i].name, "l2.shared") != 0) { /* which older files have not */
            err_set(r->err, "'%s': '%s' is not given", r->file, keys[i].name);
            return err_next(r->err, "give it, or begin with 'like %s', which gives the rest", SIM_MODEL_DEFAULT);
        }
    if (sim_model_check(r->model, r->err) == 0)
        return 0;
    char prefix[128];
    snprintf(prefix, sizeof prefix, "'%.100s'", r->file);
    return err_prefix(r->err, prefix);
}

/* The file's name without its folders, and with nothing that would break a line of a table. */
static void set_name(struct sim_model *model, const char *file)
{
    const char *slash = strrchr(file, '/');
    snprintf(model->name, sizeof model->name, "%s", slash == NULL ? file : slash + 1);
    for (char *c = model->name; *c != '\0'; c++)
        if ((unsigned char)*c <= ' ' || *c == '"' || *c == '\\')
            *c = '_';
}

int sim_model_read(const char *text, size_t n, const char *file, struct sim_model *model, struct err *err)
{
    struct model_reading r = { .file = file, .model = model, .err = err };
    memset(model, 0, sizeof *model);
    set_name(model, file);
    while (n > 0) {
        const char *end = memchr(text, '\n', n);
        size_t n_line = end == NULL ? n : (size_t)(end - text);
        r.line++;
        if (read_line(&r, text, n_line) < 0)
            return -1;
        n_line += end != NULL;
        text += n_line;
        n -= n_line;
    }
    return check_complete(&r);
}

int sim_model_load(const char *name_or_file, struct sim_model *model, struct err *err)
{
    char text[SIM_TEXT_BYTES * 4];
    if (sim_model_find(name_or_file, model, err) == 0)
        return 0;
    FILE *in = fopen(name_or_file, "re");
    if (in == NULL && errno == ENOENT && strchr(name_or_file, '/') == NULL)
        return -1; /* a preset was meant */
    if (in == NULL) {
        err_set(err, "cannot open the model '%s': %s", name_or_file, strerror(errno));
        return err_next(err, "give a file of 'key value' lines, or a preset's name ('mmprof list --models')");
    }
    size_t n = fread(text, 1, sizeof text, in);
    bool is_bad = ferror(in) != 0;
    fclose(in);
    if (is_bad || n == sizeof text) {
        err_set(err, "cannot read the model '%s': %s", name_or_file, is_bad ? strerror(errno) : "it is too long");
        return err_next(err, "give a file of 'key value' lines, or a preset's name ('mmprof list --models')");
    }
    return sim_model_read(text, n, name_or_file, model, err);
}

/* ---- printing ---- */

static int print_value(const struct model_key *key, uint32_t value, char *text, size_t n)
{
    const char *word = key->words;
    switch (key->kind) {
    case KEY_CYCLES:
        return snprintf(text, n, "%-20s %" PRIu32 ".%02" PRIu32 "\n", key->name, value / 100, value % 100);
    case KEY_SIZE:
        if (value != 0 && value % (1u << 20) == 0)
            return snprintf(text, n, "%-20s %" PRIu32 "M\n", key->name, value >> 20);
        if (value != 0 && value % 1024 == 0)
            return snprintf(text, n, "%-20s %" PRIu32 "K\n", key->name, value >> 10);
        break;
    case KEY_WORD:
        for (uint32_t i = 0; i < value && strchr(word, ' ') != NULL; i++)
            word = strchr(word, ' ') + 1;
        return snprintf(text, n, "%-20s %.*s\n", key->name, (int)strcspn(word, " "), word);
    default:
        break;
    }
    return snprintf(text, n, "%-20s %" PRIu32 "\n", key->name, value);
}

void sim_model_print(const struct sim_model *model, char *text, size_t n)
{
    struct sim_model copy = *model;
    size_t used = 0;
    if (n > 0)
        text[0] = '\0';
    for (size_t i = 0; i < N_KEYS && used < n; i++) {
        int more = print_value(&keys[i], *value_of(&copy, &keys[i]), text + used, n - used);
        used += more < 0 ? 0 : (size_t)more;
    }
}
