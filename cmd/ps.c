/*
 * mmprof ps: the JVMs that run here.
 *
 *        PID  User  JDK        Uptime        CPU  Attach    Main class or jar
 *     ---------------------------------------------------------------------------
 *       4711  app   17.0.21    3 d 04 h   812 min  yes       com.example.Shop
 *       5012  app   25         12 min       31 s  disabled  /opt/batch/batch.jar
 */
#include "cmd/trace_argument.h"
#include "core/jvm/running.h"

/* In the two largest units that it has. */
static struct table_cell duration(struct arena *arena, double seconds)
{
    if (seconds < 0)
        return table_unmeasured();
    struct table_cell cell = table_number(seconds);
    uint64_t s = (uint64_t)seconds;
    if (s < 10)
        cell.words = arena_printf(arena, "%.1f s", seconds);
    else if (s < 120)
        cell.words = arena_printf(arena, "%u s", (unsigned)s);
    else if (s < 7200)
        cell.words = arena_printf(arena, "%u min", (unsigned)(s / 60));
    else if (s < 2 * 86400)
        cell.words = arena_printf(arena, "%u h %02u min", (unsigned)(s / 3600), (unsigned)(s / 60 % 60));
    else
        cell.words = arena_printf(arena, "%u d %02u h", (unsigned)(s / 86400), (unsigned)(s / 3600 % 24));
    return cell;
}

struct ps_row {
    struct table_cell pid, uptime, cpu;
    const char *user, *jdk, *attach, *main, *command;
};

static const struct table_column columns[] = {
    { "pid", "PID", TABLE_COUNT, FROM(struct ps_row, pid) },
    { "user", "User", TABLE_TEXT, FROM(struct ps_row, user) },
    { "jdk", "JDK", TABLE_TEXT, FROM(struct ps_row, jdk) },
    { "uptime_s", "Uptime", TABLE_RATE, FROM(struct ps_row, uptime) },
    { "cpu_s", "CPU", TABLE_RATE, FROM(struct ps_row, cpu) },
    { "attach", "Attach", TABLE_TEXT, FROM(struct ps_row, attach) },
    { "main", "Main class or jar", TABLE_TEXT, FROM(struct ps_row, main) },
    { "command", "command", TABLE_TEXT, FROM(struct ps_row, command), .width = COLUMN_DATA },
};

static void add_jvm(struct table *table, const struct jvm_running *jvm)
{
    struct arena *arena = table->arena;
    char user[JVM_USER_NAME_BYTES];
    jvm_user_name(jvm->uid, user);
    struct ps_row row = { .pid = table_number(jvm->pid),
                          .uptime = duration(arena, jvm->uptime_s),
                          .cpu = duration(arena, (double)jvm->cpu_ns / 1e9),
                          .user = arena_text(arena, user, strlen(user)),
                          .jdk = jvm->version[0] == '\0' ? NULL : jvm->version,
                          .attach = jvm_obstacle_word(jvm->obstacle),
                          .main = jvm->main[0] == '\0' ? NULL : jvm->main,
                          .command = jvm->command };
    row.pid.words = arena_printf(arena, "%d", (int)jvm->pid);
    table_add(table, "jvm", &row);
}

static int make(struct table *table, struct arena *arena, struct err *err)
{
    struct jvm_running *all;
    size_t n;
    bool has_obstacle = false;
    if (jvm_running_list(arena, &all, &n, err) < 0)
        return -1;
    table_begin(table, arena);
    TABLE_COLUMNS(table, columns, 0);
    for (size_t i = 0; i < n; i++) {
        has_obstacle = has_obstacle || all[i].obstacle != JVM_OBSTACLE_NONE;
        add_jvm(table, &all[i]);
    }
    if (n == 0)
        table_note(table, "no JVM runs here that this user can see");
    if (has_obstacle)
        table_note(table, "'mmprof doctor PID' says why a JVM cannot be attached to, and what to do");
    return 0;
}

int command_ps(int argc, char **argv, struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct display display = DISPLAY_PLAIN;
    bool csv = false, json = false, done;
    const struct options_row rows[] = {
        { 0, "csv", NULL, OPTION_FLAG, &csv, "print the table as CSV" },
        { 0, "json", NULL, OPTION_FLAG, &json, "print the table as JSON" },
        DISPLAY_ROW(&display),
        { 0 },
    };
    int i;
    if (command_parse("ps [--csv | --json]",
                      "Lists the JVMs that run here, in containers, too, and whether mmprof can attach to each.", rows,
                      argc, argv, &i, &done, err) < 0)
        return -1;
    if (done)
        return 0;
    if (i < argc) {
        err_set(err, "unexpected argument '%s'", argv[i]);
        return err_next(err, "to see whether a JVM can be measured, run 'mmprof doctor %s'", argv[i]);
    }
    struct table *table = arena_alloc(&arena, sizeof *table);
    int rc = make(table, &arena, err);
    if (rc == 0)
        rc = command_print_table(table, csv, json, &display, err);
    arena_free(&arena);
    return rc;
}
