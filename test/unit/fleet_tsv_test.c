/* Answers of a ClickHouse server. */
#include "report/fleet/fleet_engine.h"

#include "test/unit/tap.h"

static struct arena arena;

static void test_answer(void)
{
    struct fleet_result r;
    fleet_tsv_read("run\tcalls\tshare\nLowCardinality(Nullable(String))\tNullable(Int64)\tFloat64\n"
                   "a\\tb\\\\c\\'\\n\t7\t0.5\n\\N\t\\N\tnan\n",
                   &arena, &r);
    CHECK("an answer has its columns and rows", r.n_columns == 3 && r.n_rows == 2);
    CHECK_TEXT("names", r.names[2], "share");
    CHECK("types, without what wraps them",
          r.types[0] == FLEET_TEXT && r.types[1] == FLEET_WHOLE && r.types[2] == FLEET_REAL);
    CHECK_TEXT("fields are as they were before they were escaped", r.values[0], "a\tb\\c'\n");
    CHECK_TEXT("numbers are texts", r.values[1], "7");
    CHECK("what is not there is NULL", r.values[3] == NULL && r.values[4] == NULL);
}

static void test_damaged(void)
{
    static const char *const answers[] = {
        "", "\n", "a", "a\tb\n", "a\tb\nString\n1\n", "a\nNullable(\n\\\n", "\t\t\n\n\n", "\\N\n\\N\n\\N\n"
    };
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        struct fleet_result r;
        fleet_tsv_read(answers[i], &arena, &r);
        CHECK("what is missing is empty", r.n_columns > 0 && r.names[0] != NULL);
    }
}

int main(void)
{
    test_answer();
    test_damaged();
    arena_free(&arena);
    return tap_done();
}
