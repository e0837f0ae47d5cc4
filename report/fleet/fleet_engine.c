/* Source: duckdb.h, DuckDB 1.5 (its C interface is stable since 1.0). */
#include "report/fleet/fleet_engine.h"

#include "core/base/privileges.h"
#include "core/base/xalloc.h"

#include <dlfcn.h>
#include <sys/resource.h>

#define LIBRARY      "libduckdb.so"
#define IS_SELECT    1 /* DUCKDB_STATEMENT_TYPE_SELECT */
#define RESULT_BYTES 48
#define MEMORY_LIMIT "1GB"
#define PROCESS_GB   2 /* of which DuckDB has its limit; what it does not count, such as one huge text, ends here */
#define GRACE_S      2 /* for a query to end that was asked to: inside of one function it does not look */
#define VALUES_MAX   5000000 /* of an answer, which is kept as texts */
#define SYMBOL(name)                                         \
    {                                                        \
        "duckdb_" #name, offsetof(struct duckdb_calls, name) \
    }

/* duckdb_type: whole numbers up to 64 bits, and others. */
enum {
    TYPE_TINYINT = 2,
    TYPE_UBIGINT = 9,
    TYPE_FLOAT = 10,
    TYPE_DOUBLE = 11,
    TYPE_HUGEINT = 16,
    TYPE_DECIMAL = 19, /* value_varchar knows the types up to this one */
    TYPE_NULL = 36
};

/* duckdb_result: what is in it is DuckDB's. */
struct duckdb_result_of {
    uint64_t words[RESULT_BYTES / 8];
};

struct duckdb_calls {
    int (*open)(const char *path, void **database);
    void (*close)(void **database);
    int (*connect)(void *database, void **connection);
    void (*disconnect)(void **connection);
    void (*interrupt)(void *connection);
    int (*query)(void *connection, const char *sql, struct duckdb_result_of *result);
    void (*destroy_result)(struct duckdb_result_of *result);
    const char *(*result_error)(struct duckdb_result_of *result);
    uint64_t (*row_count)(struct duckdb_result_of *result);
    uint64_t (*column_count)(struct duckdb_result_of *result);
    const char *(*column_name)(struct duckdb_result_of *result, uint64_t column);
    int (*column_type)(struct duckdb_result_of *result, uint64_t column);
    char *(*value_varchar)(struct duckdb_result_of *result, uint64_t column, uint64_t row);
    void (*free)(void *memory);
    uint64_t (*extract_statements)(void *connection, const char *sql, void **statements);
    const char *(*extract_statements_error)(void *statements);
    void (*destroy_extracted)(void **statements);
    int (*prepare_extracted_statement)(void *connection, void *statements, uint64_t index, void **prepared);
    const char *(*prepare_error)(void *prepared);
    int (*prepared_statement_type)(void *prepared);
    void (*destroy_prepare)(void **prepared);
};

struct fleet_engine {
    void *library, *database, *connection;
    struct duckdb_calls calls;
    struct fleet_clickhouse *server; /* NULL: it is DuckDB */
    bool reads_only;                 /* of the server: from now on it refuses all that changes anything */
    double limit_s;                  /* for each statement; 0: none */
    bool is_lost;                    /* a statement goes on until the process ends */
    bool is_late;                    /* one took longer than the limit */
};

/* ---- the library ---- */

/* clang-format off */
static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
    SYMBOL(open), SYMBOL(close), SYMBOL(connect), SYMBOL(disconnect), SYMBOL(interrupt), SYMBOL(query),
    SYMBOL(destroy_result), SYMBOL(result_error), SYMBOL(row_count), SYMBOL(column_count), SYMBOL(column_name),
    SYMBOL(column_type), SYMBOL(value_varchar), SYMBOL(free), SYMBOL(extract_statements),
    SYMBOL(extract_statements_error), SYMBOL(destroy_extracted), SYMBOL(prepare_extracted_statement),
    SYMBOL(prepare_error), SYMBOL(prepared_statement_type), SYMBOL(destroy_prepare),
};
/* clang-format on */

static int how_to(struct err *err)
{
    return err_next(err, "run 'make duckdb', name its " LIBRARY " with --duckdb or " FLEET_ENGINE_VARIABLE
                         ", or put it into /usr/local/lib");
}

/* A file by its place from the folder of this program, libexec/mmprof. */
static void find_beside(const char *place, char *path, size_t n)
{
    char self[PATH_MAX] = "";
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *slash = length <= 0 ? NULL : strrchr(self, '/');
    snprintf(path, n, "%.*s/%s", slash == NULL ? 0 : (int)(slash - self), self, place);
}

/* What a file may do that everybody may run, a library that anybody names must not. */
static int refuse_named(const char *named, struct err *err)
{
    const char *given = named != NULL ? named : getenv(FLEET_ENGINE_VARIABLE);
    if (given == NULL || !privileges_are_of_file())
        return 0;
    err_set(err, "the file of this program has capabilities, so it does not load the library '%s'", given);
    return err_next(err, "use a copy of it, which has none, or leave out %s",
                    named != NULL ? "--duckdb" : FLEET_ENGINE_VARIABLE);
}

/* One that is named is that one or none. */
static void *load_library(const char *named, struct err *err)
{
    char built[PATH_MAX + 64], installed[PATH_MAX + 64];
    const char *given = named != NULL ? named : secure_getenv(FLEET_ENGINE_VARIABLE);
    if (refuse_named(named, err) < 0 || privileges_drop(err) < 0)
        return NULL;
    find_beside("../../" LIBRARY, built, sizeof built);
    find_beside("../../bin/" LIBRARY, installed, sizeof installed);
    const char *const paths[] = { given != NULL ? given : built, installed, "/usr/local/lib/" LIBRARY, LIBRARY };
    for (size_t i = 0; i < (given != NULL ? 1 : sizeof paths / sizeof *paths); i++) {
        void *library = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
        if (library != NULL)
            return library;
    }
    const char *why = dlerror();
    if (given != NULL)
        err_set(err, "cannot load DuckDB from '%s': %s", given, why == NULL ? "" : why);
    else
        err_set(err, "cannot find DuckDB, which reads the files of a fleet");
    how_to(err);
    return NULL;
}

static int find_symbols(struct fleet_engine *engine, struct err *err)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = dlsym(engine->library, symbols[i].name);
        if (address == NULL) {
            err_set(err, "this library of DuckDB has no '%s'", symbols[i].name);
            return how_to(err);
        }
        memcpy((char *)&engine->calls + symbols[i].offset, &address, sizeof address);
    }
    return 0;
}

int fleet_engine_open(struct fleet_engine **engine, const char *library, struct err *err)
{
    struct fleet_engine *e = *engine = xcalloc(1, sizeof *e);
    e->library = load_library(library, err);
    int rc = e->library == NULL ? -1 : find_symbols(e, err);
    if (rc == 0 && (e->calls.open(NULL, &e->database) != 0 || e->calls.connect(e->database, &e->connection) != 0))
        rc = err_set(err, "DuckDB cannot open a database in memory");
    if (rc == 0)
        rc = fleet_engine_query(e,
                                "SET memory_limit = '" MEMORY_LIMIT "'; SET TimeZone = 'UTC'; "
                                "SET autoinstall_known_extensions = false; "
                                "SET autoload_known_extensions = false; SET temp_directory = ''",
                                NULL, NULL, err);
    if (rc == 0)
        return 0;
    fleet_engine_close(e);
    *engine = NULL;
    return -1;
}

int fleet_engine_connect(struct fleet_engine **engine, const char *url, const char *password_file, struct err *err)
{
    struct fleet_engine *e = *engine = xcalloc(1, sizeof *e);
    if (fleet_clickhouse_open(&e->server, url, password_file, err) == 0)
        return 0;
    fleet_engine_close(e);
    *engine = NULL;
    return -1;
}

int fleet_engine_check_version(const struct fleet_engine *e, struct err *err)
{
    return e->server == NULL ? 0 : fleet_clickhouse_check_version(e->server, err);
}

/* The library stays loaded: DuckDB has threads of its own. */
void fleet_engine_close(struct fleet_engine *e)
{
    if (e == NULL)
        return;
    fleet_clickhouse_close(e->server);
    if (e->is_lost)
        return;
    if (e->connection != NULL)
        e->calls.disconnect(&e->connection);
    if (e->database != NULL)
        e->calls.close(&e->database);
    free(e);
}

/* ---- queries ---- */

static enum fleet_type type_of(int type)
{
    if ((type >= TYPE_TINYINT && type <= TYPE_UBIGINT) || type == TYPE_HUGEINT)
        return FLEET_WHOLE;
    return type == TYPE_FLOAT || type == TYPE_DOUBLE || type == TYPE_DECIMAL ? FLEET_REAL : FLEET_TEXT;
}

static int refuse_size(const struct fleet_engine *e, struct duckdb_result_of *of, struct err *err)
{
    uint64_t n_rows = e->calls.row_count(of), n_columns = e->calls.column_count(of);
    if (n_columns == 0 || n_rows <= VALUES_MAX / n_columns)
        return 0;
    err_set(err, "the answer has %.0f rows, of %.0f columns", (double)n_rows, (double)n_columns);
    return err_next(err, "aggregate in the query, or end it with LIMIT %d", VALUES_MAX / (int)n_columns);
}

static void copy_result(const struct fleet_engine *e, struct duckdb_result_of *from, struct arena *arena,
                        struct fleet_result *to)
{
    fleet_result_make(to, e->calls.column_count(from), e->calls.row_count(from), arena);
    for (size_t c = 0; c < to->n_columns; c++) {
        const char *name = e->calls.column_name(from, c);
        to->names[c] = arena_printf(arena, "%s", name == NULL ? "" : name);
        to->types[c] = type_of(e->calls.column_type(from, c));
    }
    for (size_t i = 0; i < to->n_rows * to->n_columns; i++) {
        char *text = e->calls.value_varchar(from, i % to->n_columns, i / to->n_columns);
        to->values[i] = text == NULL ? NULL : arena_text(arena, text, strlen(text));
        e->calls.free(text);
    }
}

/* Of moments with a time zone, lists and the like the values come as NULL. */
static bool has_other_types(const struct fleet_engine *e, struct duckdb_result_of *of)
{
    for (uint64_t c = 0; c < e->calls.column_count(of); c++) {
        int type = e->calls.column_type(of, c);
        if (type > TYPE_DECIMAL && type != TYPE_NULL)
            return true;
    }
    return false;
}

/* The same query with all values as texts. */
static const char *as_texts(struct arena *arena, const char *sql)
{
    return arena_printf(arena, "SELECT COLUMNS(*)::VARCHAR FROM (%.*s\n)", (int)fleet_statement_bytes(sql), sql);
}

/* ---- limits ---- */

int fleet_engine_limit(struct fleet_engine *e, double seconds, struct err *err)
{
    struct rlimit limit;
    const rlim_t most = (rlim_t)PROCESS_GB << 30;
    e->limit_s = seconds;
    if (e->server != NULL) {
        fleet_clickhouse_limit(e->server, seconds);
        return 0;
    }
    if (getrlimit(RLIMIT_DATA, &limit) < 0)
        return err_set(err, "cannot limit the memory of a query: %s", strerror(errno));
    if (limit.rlim_cur <= most)
        return 0;
    limit.rlim_cur = most;
    return setrlimit(RLIMIT_DATA, &limit) == 0
               ? 0
               : err_set(err, "cannot limit the memory of a query: %s", strerror(errno));
}

/* What is done in time, in a thread of its own: of one that is lost all is that thread's. */
struct statement {
    struct fleet_engine *engine;
    char *sql; /* owned */
    void (*run)(struct statement *statement);
    struct duckdb_result_of of; /* of a query */
    int rc;
    struct err err; /* of a check */
};

static void run_statement(void *context)
{
    struct statement *s = context;
    s->run(s);
}

static void interrupt_statement(void *context)
{
    const struct statement *s = context;
    s->engine->calls.interrupt(s->engine->connection);
}

static void run_query(struct statement *s)
{
    s->rc = s->engine->calls.query(s->engine->connection, s->sql, &s->of);
}

static int refuse_time(struct fleet_engine *e, struct err *err)
{
    e->is_late = true;
    err_set(err, "the query takes longer than %g s", e->limit_s);
    return err_next(err, "give it more time with --timeout, or ask for less");
}

static void free_statement(struct statement *s)
{
    if (s != NULL)
        free(s->sql);
    free(s);
}

/* Returns 0 and *out for free_statement, or -1 with *err set; what 'run' made of it is not looked at. */
static int run_in_time(struct fleet_engine *e, const char *sql, void (*run)(struct statement *s),
                       struct statement **out, struct err *err)
{
    struct statement *s = *out = xcalloc(1, sizeof *s);
    enum fleet_watched watched = FLEET_WATCHED_DONE;
    s->sql = xstrdup(sql);
    s->engine = e;
    s->run = run;
    const struct fleet_work work = { run_statement, interrupt_statement, s, e->limit_s, GRACE_S };
    if (e->limit_s <= 0)
        run(s);
    else if (fleet_watch(&work, &watched, err) < 0)
        return -1;
    if (watched == FLEET_WATCHED_LOST) {
        *out = NULL;
        e->is_lost = true;
    }
    if (watched != FLEET_WATCHED_DONE)
        return refuse_time(e, err);
    return 0;
}

/* What DuckDB advises then cannot be done here. */
static int tell_failure(const char *why, struct err *err)
{
    if (why != NULL && strncmp(why, "Permission Error", strlen("Permission Error")) == 0) {
        err_set(err, "%.*s", (int)strcspn(why, "\n"), why);
        return err_next(err, "query the table 'phases': a query may read only the files of its directory");
    }
    if (why == NULL || strncmp(why, "Out of Memory", strlen("Out of Memory")) != 0)
        return err_set(err, "%s", why == NULL ? "DuckDB failed" : why);
    err_set(err, "the query needs more than 1 GB of memory");
    return err_next(err, "ask for fewer rows and columns, or aggregate over fewer groups");
}

/* ---- statements ---- */

static int take_answer(const struct fleet_engine *e, struct statement *s, struct arena *arena,
                       struct fleet_result *result, bool *is_other, struct err *err)
{
    *is_other = s->rc == 0 && result != NULL && has_other_types(e, &s->of);
    if (s->rc != 0)
        return tell_failure(e->calls.result_error(&s->of), err);
    if (result == NULL || *is_other)
        return 0;
    if (refuse_size(e, &s->of, err) < 0)
        return -1;
    copy_result(e, &s->of, arena, result);
    return 0;
}

int fleet_engine_query(struct fleet_engine *e, const char *sql, struct arena *arena, struct fleet_result *result,
                       struct err *err)
{
    struct statement *s;
    bool is_other = false;
    if (e->server != NULL)
        return fleet_clickhouse_query(e->server, sql, e->reads_only, arena, result, err);
    int rc = run_in_time(e, sql, run_query, &s, err);
    if (rc == 0)
        rc = take_answer(e, s, arena, result, &is_other, err);
    if (s != NULL)
        e->calls.destroy_result(&s->of);
    free_statement(s);
    return rc < 0 || !is_other ? rc : fleet_engine_query(e, as_texts(arena, sql), arena, result, err);
}

int fleet_engine_confine(struct fleet_engine *e, const char *directory, struct err *err)
{
    struct arena arena = { NULL, 0 };
    char real[PATH_MAX];
    const char *name = fleet_literal(&arena, realpath(directory, real) == NULL ? directory : real);
    const char *sql = arena_printf(&arena,
                                   "SET allowed_directories = [%s]; SET enable_external_access = false; "
                                   "SET lock_configuration = true",
                                   name);
    int rc = fleet_engine_query(e, sql, NULL, NULL, err);
    arena_free(&arena);
    return rc;
}

bool fleet_engine_is_late(const struct fleet_engine *e)
{
    return e->is_late;
}

/* Constants are computed when a statement is prepared: that takes its time, too. */
static int check_one(const struct fleet_engine *e, void *statements, struct err *err)
{
    void *prepared = NULL;
    int rc = e->calls.prepare_extracted_statement(e->connection, statements, 0, &prepared);
    if (rc != 0)
        rc = tell_failure(e->calls.prepare_error(prepared), err);
    else if (e->calls.prepared_statement_type(prepared) != IS_SELECT)
        rc = err_set(err, "this statement is not a SELECT"), err_next(err, "give one SELECT: others are not allowed");
    e->calls.destroy_prepare(&prepared);
    return rc;
}

static void run_check(struct statement *s)
{
    const struct duckdb_calls *calls = &s->engine->calls;
    void *statements = NULL;
    uint64_t n = calls->extract_statements(s->engine->connection, s->sql, &statements);
    s->rc = -1;
    if (n == 1) {
        s->rc = check_one(s->engine, statements, &s->err);
    } else {
        const char *why = n == 0 ? calls->extract_statements_error(statements) : NULL;
        err_set(&s->err, "%s", why != NULL ? why : n == 0 ? "there is no statement" : "there are several statements");
        err_next(&s->err, "give one SELECT");
    }
    calls->destroy_extracted(&statements);
}

int fleet_engine_check_select(struct fleet_engine *e, const char *sql, struct err *err)
{
    struct statement *s;
    if (e->server != NULL) {
        e->reads_only = true;
        return 0;
    }
    int rc = run_in_time(e, sql, run_check, &s, err);
    if (rc == 0 && (rc = s->rc) < 0)
        *err = s->err;
    free_statement(s);
    return rc;
}

static const char *literal_of(struct arena *arena, const char *text, const char *doubled)
{
    size_t n = strlen(text), at = 0;
    char *literal = arena_alloc(arena, 2 * n + 3);
    literal[at++] = '\'';
    for (size_t i = 0; i < n; i++) {
        if (strchr(doubled, text[i]) != NULL)
            literal[at++] = text[i];
        literal[at++] = text[i];
    }
    literal[at++] = '\'';
    return literal;
}

const char *fleet_literal(struct arena *arena, const char *text)
{
    return literal_of(arena, text, "'");
}

const char *fleet_clickhouse_literal(struct arena *arena, const char *text)
{
    return literal_of(arena, text, "'\\");
}

const char *fleet_engine_literal(const struct fleet_engine *engine, struct arena *arena, const char *text)
{
    bool is_server = engine != NULL && engine->server != NULL;
    return is_server ? fleet_clickhouse_literal(arena, text) : fleet_literal(arena, text);
}
