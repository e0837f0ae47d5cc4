/*
 * A fleet of made-up JVMs: a file each, a row for each phase and minute, noise of known size, and what is planted.
 *
 *     make_fleet DIR JVMS PHASES MINUTES SEED [TABLE]
 *     make_fleet bad DIR          files that are not to be believed, and one that is
 *
 * TABLE has the phases of real recordings: a line of calls, CPU time in ns with and without what they call, all a
 * minute, and the name, with tabs between them; where it has less than PHASES, they are taken again under other names.
 * Without it they are made up.
 *
 * Half of the JVMs are of version 1, half of version 2.  Machines differ by 5 %, a run's phases by 3 % more, minutes by
 * 10 %, CPI by 4 %.  In version 2 phase 7 takes 1.2 times as long, and JVM 17 has 1.5 times the CPI.
 */
#include "test/unit/fleet_maker.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#define START_S  1790000000 /* in 2026 */
#define MINUTE_S 60

#define NAME_BYTES 512

struct made_phase {
    char name[NAME_BYTES];
    double calls, called_ns, self_ns; /* a minute */
};

struct fleet_sizes {
    long jvms, phases, minutes;
    struct made_phase *made; /* owned */
};

/* Numbers 1 to 20 over and over: calls of 10 to 200 us. */
static void make_up(struct made_phase *made, long p)
{
    snprintf(made->name, sizeof made->name, "com.example.shop.Service%ld.handle(Request)", p);
    made->calls = 1000.0 * (double)(1 + p % 20);
    made->called_ns = made->self_ns = made->calls * 2e5 / (double)(1 + p % 20);
}

/* Returns how many there are, at most n. */
static long read_table(const char *path, struct made_phase *made, long n)
{
    FILE *in = fopen(path, "r");
    char line[2 * NAME_BYTES];
    long i = 0;
    for (; in != NULL && i < n && fgets(line, sizeof line, in) != NULL; i++) {
        char *at = line;
        line[strcspn(line, "\n")] = '\0';
        made[i].calls = strtod(at, &at);
        made[i].called_ns = strtod(at, &at);
        made[i].self_ns = strtod(at, &at);
        snprintf(made[i].name, NAME_BYTES - 32, "%s", at + strspn(at, "\t"));
    }
    if (in != NULL)
        fclose(in);
    return i;
}

static void find_phases(struct fleet_sizes *sizes, const char *table)
{
    long n = table == NULL ? 0 : read_table(table, sizes->made, sizes->phases);
    if (table != NULL && n == 0)
        printf("Bail out! '%s' has no phases\n", table);
    for (long p = n; p < sizes->phases; p++) {
        struct made_phase *made = &sizes->made[p];
        if (n == 0) {
            make_up(made, p);
            continue;
        }
        *made = sizes->made[p % n];
        snprintf(made->name + strlen(made->name), 32, " #%ld", p / n);
    }
}

static void write_jvm(const char *directory, const struct fleet_sizes *sizes, long jvm)
{
    struct fleet_maker maker;
    char path[4096], run[64], host[32];
    double machine = exp(0.05 * fleet_noise()), cpi = 0.8 * exp(0.04 * fleet_noise()) * (jvm == 17 ? 1.5 : 1);
    snprintf(path, sizeof path, "%s/jvm-%ld.parquet", directory, jvm);
    snprintf(host, sizeof host, "host-%ld", jvm);
    snprintf(run, sizeof run, "%s-1-%lld", host, (long long)START_S * 1000000000);
    struct fleet_made row = { .run = run,
                              .host = host,
                              .service = "shop",
                              .version = jvm < sizes->jvms / 2 ? "1" : "2",
                              .jdk = "OpenJDK 21",
                              .cpu_model = "X",
                              .counted_by = "hardware" };
    fleet_maker_open(&maker, path);
    for (long p = 0; p <= sizes->phases; p++) {
        const struct made_phase *made = p == sizes->phases ? NULL : &sizes->made[p];
        double own = machine * exp(0.03 * fleet_noise()) * (p == 7 && jvm >= sizes->jvms / 2 ? 1.2 : 1);
        row.kind = made == NULL ? "total" : "phase";
        row.phase = made == NULL ? "total" : made->name;
        for (long m = 0; m < sizes->minutes; m++) {
            double minute = exp(0.1 * fleet_noise());
            row.ts = ((int64_t)START_S + m * MINUTE_S) * 1000000;
            row.calls = made == NULL ? -1 : (int64_t)(made->calls * minute);
            row.called_ns = made == NULL ? -1 : (int64_t)(made->called_ns * minute * own);
            row.cpu_ns = made == NULL ? (int64_t)6e10 : row.called_ns;
            row.self_ns = made == NULL ? -1 : (int64_t)(made->self_ns * minute * own);
            row.instructions = row.cpu_ns * 2;
            row.cycles = (int64_t)((double)row.instructions * cpi);
            fleet_maker_row(&maker, &row);
        }
    }
    fleet_maker_close(&maker, "1");
}

/* ---- what is not to be believed ---- */

#define HOSTILE "<script>alert(1)</script>'); DROP TABLE phases; --\"../../../etc/x\033[31m,=1+1"

static const struct {
    const char *name, *run, *service, *schema; /* schema: NULL: of another program */
    long after_s;                              /* of START_S */
} bad[] = {
    { "whole", "h-1-1790000000000000000", "shop", "1", 0 },
    { "foreign", "h-2-1790000000000000000", "shop", NULL, 0 },
    { "newer", "h-3-1790000000000000000", "shop", "2", 0 },
    { "future", "h-4-1790000000000000000", "shop", "1", 100L * 365 * 86400 },
    { "early", "h-5-1790000000000000000", "shop", "1", -86400 },
    { "hostile", "h-6-1790000000000000000", HOSTILE, "1", 0 },
    { "sampled", "h-7-1790000000000000000", "shop", "1", 0 },
};

static void write_bad(const char *directory, size_t i)
{
    struct fleet_maker maker;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.parquet", directory, bad[i].name);
    fleet_maker_open(&maker, path);
    bool is_sampled = strcmp(bad[i].name, "sampled") == 0; /* it is right: its method had no probe */
    for (int row = 0; row < (is_sampled ? 3 : 2); row++)
        fleet_maker_row(&maker, &(struct fleet_made){ .run = bad[i].run,
                                                      .host = bad[i].service,
                                                      .service = bad[i].service,
                                                      .version = "1",
                                                      .ts = ((int64_t)START_S + bad[i].after_s) * 1000000,
                                                      .parent = row == 2 ? "bridge" : NULL,
                                                      .kind = row == 1     ? "total"
                                                              : is_sampled ? "sampled"
                                                                           : "phase",
                                                      .phase = row != 1 ? bad[i].service : "total",
                                                      .calls = row == 0 && !is_sampled ? 10 : -1,
                                                      .called_ns = row == 0 && !is_sampled ? 1000000000 : -1,
                                                      .cpu_ns = 1000000000,
                                                      .self_ns = row != 1 ? 1000000000 : -1,
                                                      .cycles = -1,
                                                      .instructions = -1 });
    fleet_maker_close(&maker, bad[i].schema);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "bad") == 0) {
        mkdir(argv[2], 0777);
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
            write_bad(argv[2], i);
        return 0;
    }
    if (argc != 6 && argc != 7) {
        fprintf(stderr, "usage: make_fleet DIR JVMS PHASES MINUTES SEED [TABLE] | bad DIR\n");
        return 2;
    }
    struct fleet_sizes sizes = { strtol(argv[2], NULL, 10), strtol(argv[3], NULL, 10), strtol(argv[4], NULL, 10),
                                 NULL };
    sizes.made = calloc((size_t)sizes.phases + 1, sizeof *sizes.made);
    if (sizes.made == NULL)
        return 2;
    find_phases(&sizes, argv[6]);
    fleet_noise_seed((int)strtol(argv[5], NULL, 10));
    mkdir(argv[1], 0777);
    for (long jvm = 0; jvm < sizes.jvms; jvm++)
        write_jvm(argv[1], &sizes, jvm);
    free(sizes.made);
    return 0;
}
