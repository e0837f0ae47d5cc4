#include "core/emu/model/sim_machine.h"

#include "test/unit/tap.h"

static struct err err;

static int parse(const char *text, struct sim_model *model)
{
    return sim_model_read(text, strlen(text), "my.model", model, &err);
}

static void test_presets(void)
{
    struct sim_model model, again;
    const char *what, *name;
    char text[SIM_TEXT_BYTES];
    size_t n = 0;
    bool is_sound = true, is_same = true;
    for (; (name = sim_model_preset(n, &what)) != NULL; n++) {
        is_sound = is_sound && sim_model_find(name, &model, &err) == 0 && sim_model_check(&model, &err) == 0;
        sim_model_print(&model, text, sizeof text);
        is_same = is_same && strlen(text) + 1 < sizeof text &&
                  sim_model_read(text, strlen(text), name, &again, &err) == 0 &&
                  memcmp(&model, &again, sizeof model) == 0;
    }
    CHECK("there are presets", n >= 5);
    CHECK("all of them can be simulated", is_sound);
    CHECK("what is printed of them reads the same", is_same);
    CHECK("one is the default", sim_model_find(SIM_MODEL_DEFAULT, &model, &err) == 0);
    CHECK("another name is refused", sim_model_load("zen5", &model, &err) < 0);
    CHECK_TEXT("with a next step", err.text,
               "there is no model 'zen5'\n  next: run 'mmprof list --models', or give a file of 'key value' lines");
}

/* The sizes that the papers name. */
static void test_papers(void)
{
    struct sim_model m;
    CHECK("thesis 2.4.1: 32 KB, 4 ways, lines of 32 bytes", sim_model_find("javana", &m, &err) == 0 &&
                                                                m.l1d.size_bytes == 32768 && m.l1d.n_ways == 4 &&
                                                                m.l1d.line_bytes == 32);
    CHECK("and 1 MB, 8 ways, lines of 128 bytes; both write back and allocate",
          m.l2.size_bytes == 1048576 && m.l2.n_ways == 8 && m.l2.line_bytes == 128 && m.write == SIM_WRITE_BACK &&
              m.allocate == SIM_ALLOCATE);
    CHECK("SA 5: 64 KB, 4 ways, lines of 32 bytes", sim_model_find("ultrasparc3", &m, &err) == 0 &&
                                                        m.l1d.size_bytes == 65536 && m.l1d.n_ways == 4 &&
                                                        m.l1d.line_bytes == 32);
    CHECK("and 1 MB, direct-mapped, lines of 64 bytes; no instructions",
          m.l2.size_bytes == 1048576 && m.l2.n_ways == 1 && m.l2.line_bytes == 64 && m.l1i.size_bytes == 0);
}

static void test_input(void)
{
    static const struct {
        const char *claim, *text, *said; /* said: NULL: nothing is wrong */
    } rows[] = {
        { "a preset is enough", "like zen4\n", NULL },
        { "comments, blanks and carriage returns are left out", "# mine\n\n  like\tzen4 # so\r\n l2.size 2M\r\n",
          NULL },
        { "the last line needs no end", "like zen4\nl2.ways 16", NULL },
        { "an empty file is refused", "",
          "'my.model': 'l1i.size' is not given\n  next: give it, or begin with 'like zen4', which gives the rest" },
        { "a key that is not known is refused", "like zen4\nl2.sise 1M\n",
          "'my.model', line 2: there is no key 'l2.sise'\n  next: run 'mmprof list --model zen4', which prints all "
          "keys" },
        { "a key without a value is refused", "like zen4\n\nl2.size\n",
          "'my.model', line 3: 'l2.size' has no value\n  next: write a key and a value, such as 'l2.size 1M'" },
        { "two values are refused", "like zen4\nl2.size 1 M\n",
          "'my.model', line 2: 'l2.size' has more than one value\n"
          "  next: write a key and a value, such as 'l2.size 1M'" },
        { "a key twice is refused", "like zen4\nl2.ways 8\nl2.ways 8\n",
          "'my.model', line 3: 'l2.ways' is there twice\n  next: remove one of them" },
        { "a bad number is refused", "like zen4\nl2.ways 3x\n",
          "'my.model', line 2: bad value '3x' of 'l2.ways'\n  next: give a number up to 64" },
        { "a size too large is refused", "like zen4\nl2.size 4000M\n",
          "'my.model', line 2: bad value '4000M' of 'l2.size'\n"
          "  next: give bytes, such as 64 or 32K or 1M, up to 67108864" },
        { "a bad word is refused", "like zen4\nl2.inclusion both\n",
          "'my.model', line 2: bad value 'both' of 'l2.inclusion'\n"
          "  next: give one of: independent inclusive exclusive" },
        { "a part of a word is refused", "like zen4\nl2.inclusion in\n",
          "'my.model', line 2: bad value 'in' of 'l2.inclusion'\n"
          "  next: give one of: independent inclusive exclusive" },
        { "a thousandth of a cycle is refused", "like zen4\ncycles.instruction 0.125\n",
          "'my.model', line 2: bad value '0.125' of 'cycles.instruction'\n"
          "  next: give cycles, such as 10 or 0.25, up to 10000" },
        { "a preset that is not known is refused", "like zen5\n",
          "'my.model', line 1: there is no model 'zen5'\n"
          "  next: run 'mmprof list --models', or give a file of 'key value' lines" },
        { "a preset behind other lines is refused", "l2.ways 8\nlike zen4\n",
          "'my.model', line 2: 'like' comes too late\n"
          "  next: let 'like zen4' be the first line: the others change it" },
        { "sets that are no power of two are refused", "like zen4\nl1d.size 48K\n",
          "'my.model': l1d has 49152 bytes in 8 ways of lines of 64 bytes: no power of two of sets\n"
          "  next: give a l1d.size that is ways times line times 1, 2, 4, ..." },
        { "a cache of no bytes is refused", "like zen4\nl2.size 0\n",
          "'my.model': l2 has 0 bytes in 8 ways of lines of 64 bytes: no power of two of sets\n"
          "  next: give a l2.size that is ways times line times 1, 2, 4, ..." },
        { "a line of 24 bytes is refused", "like zen4\nl1d.line 24\n",
          "'my.model': l1d.line is 24 bytes\n  next: give a power of two from 8 to 4096" },
        { "entries that their ways do not divide are refused", "like zen4\ndtlb.ways 5\n",
          "'my.model': dtlb has 72 entries in 5 ways: no power of two of sets\n"
          "  next: give dtlb.entries that are ways times 1, 2, 4, ... (as many ways: fully associative)" },
        { "lines that are longer in L1 are refused", "like zen4\nl2.line 32\n",
          "'my.model': a line of L1 has 64 bytes, one of L2 32\n  next: give an l2.line of 64 or more" },
        { "an exclusive L2 has lines as L1 has", "like javana\nl2.inclusion exclusive\n",
          "'my.model': an exclusive L2 takes lines over from L1, but theirs differ in size\n"
          "  next: give equal l1i.line, l1d.line and l2.line, or another l2.inclusion" },
        { "and nothing that writes through", "like athlonxp\nl1d.write through\n",
          "'my.model': an exclusive L2 has no line of L1's to write through to\n"
          "  next: give 'l1d.write back', or another l2.inclusion" },
        { "a page of 3000 bytes is refused", "like zen4\npage.size 3000\n",
          "'my.model': a page has 3000 bytes\n"
          "  next: give a page.size that is a power of two, from 1024 bytes and a line of L2 on" },
        { "a history longer than the index is refused", "like zen4\ngshare.history 20\n",
          "'my.model': a predictor's history is longer than its table's index\n"
          "  next: give at most gshare.bits as gshare.history, and targets.bits as targets.path" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sim_model model;
        err.text[0] = '\0';
        int rc = parse(rows[i].text, &model);
        if (rows[i].said == NULL)
            CHECK(rows[i].claim, rc == 0);
        else
            CHECK_TEXT(rows[i].claim, rc < 0 ? err.text : "accepted", rows[i].said);
    }
}

static void test_values(void)
{
    struct sim_model m;
    CHECK("values are read", parse("like zen4\nl2.size 512K\nl1d.write through\ncycles.l1-miss 9.5\n"
                                   "cycles.instruction 0.05\npage.size 16384\n",
                                   &m) == 0);
    CHECK_NUMBER("a size", m.l2.size_bytes, 524288);
    CHECK_NUMBER("a word", m.write, SIM_WRITE_THROUGH);
    CHECK_NUMBER("tenths", m.cost.l1_miss, 950);
    CHECK_NUMBER("hundredths", m.cost.instruction, 5);
    CHECK_NUMBER("bytes", m.page_bytes, 16384);
    CHECK_NUMBER("what is not named is as in the preset", m.l1d.n_ways, 8);
    CHECK_TEXT("the model has the file's name", m.name, "my.model");
    CHECK("blanks are no part of a name",
          sim_model_read("like zen4", 9, "/a/b/my \"own\"", &m, &err) == 0 && strcmp(m.name, "my__own_") == 0);
}

int main(void)
{
    test_presets();
    test_papers();
    test_input();
    test_values();
    return tap_done();
}
