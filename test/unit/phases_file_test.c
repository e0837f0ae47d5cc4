#include "phases/select/phases_file.h"

#include "test/unit/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct arena arena;
static struct err err;

static int parse(const char *text, struct phases_file *phases)
{
    return phases_file_parse(text, strlen(text), "x.json", &arena, phases, &err);
}

static void test_round_trip(void)
{
    struct phases_file_row rows[] = {
        { { "thesis/Sort", "<init>", "([Ljava/lang/String;I)V" }, 1830, 915, 1, 2 },
        { { "caf\xc3\xa9/\"Quoted\"", "sort\\Data", "()V" }, 0.25e9, 1e6, 0.125, UINT64_C(1) << 40 },
        { { "a b/C (d)", "adds (positive)\nnumbers\x1b", "(ILe f/G (h);[[La)b;)Li) j;" }, 1, 1, 1, 1 },
        { { "\xf0\x9d\x92\xb3/Hidden.0x01", "\xf0\x9d\x92\xb3work\xc2\x9b", "()V" }, 1, 1, 1, 1 },
    };
    struct phases_file phases = { "trace.dat", "cpu", 1830, 0.1, 0.05, 0.01, 0.004, -1, 21.5, rows, 4 }, got;
    char *text = phases_file_text(&phases);
    CHECK("what is written is read", text != NULL && parse(text, &got) == 0);
    CHECK_NUMBER("with all phases", got.n_rows, 4);
    for (size_t i = 0; i < got.n_rows; i++) {
        CHECK_TEXT("class", got.rows[i].names.class_name, rows[i].names.class_name);
        CHECK_TEXT("method", got.rows[i].names.method, rows[i].names.method);
        CHECK_TEXT("descriptor", got.rows[i].names.descriptor, rows[i].names.descriptor);
    }
    CHECK("nothing in it steers a terminal", text != NULL && strpbrk(text, "\x1b\x9b") == NULL);
    CHECK_NUMBER("calls", got.rows[1].calls, rows[1].calls);
    CHECK("times and shares", got.rows[1].total_ns == 0.25e9 && got.rows[1].per_call_ns == 1e6 &&
                                  got.rows[1].share == 0.125 && got.total_ns == 1830);
    CHECK("thresholds and estimates", got.weight == 0.1 && got.grain == 0.05 && got.budget == 0.01 &&
                                          got.invocations_ratio == 0.004 && got.pair_ns == 21.5);
    CHECK("an estimate that is not known stays unknown", got.time_ratio < 0);
    CHECK_TEXT("trace and clock", got.trace, "trace.dat");
    free(text);
}

#define HEAD         "{\"format\":\"mmprof phases\",\"version\":1,\"phases\":"
#define ROW(c, m, d) HEAD "[{\"class\":\"" c "\",\"method\":\"" m "\",\"descriptor\":\"" d "\"}]}"

static void test_input(void)
{
    static const struct {
        const char *claim, *text, *what; /* what is wrong with it; NULL: nothing */
    } rows[] = {
        { "names alone are enough", ROW("a/B", "m", "()V"), NULL },
        { "no phases are a file too", HEAD "[]}", NULL },
        { "a class of the default package", ROW("B", "m", "(I)I"), NULL },
        { "constructors", ROW("B", "<init>", "()V"), NULL },
        { "an empty file is refused", "", "it is empty" },
        { "text is refused", "hello", "it is no JSON" },
        { "a cut file is refused", HEAD "[", "it is no JSON" },
        { "an array is refused", "[]", "it is no JSON object" },
        { "another format is refused", "{\"phases\":[]}", "missing \"format\": \"mmprof phases\"" },
        { "a file without phases is refused", "{\"format\":\"mmprof phases\",\"version\":1}", "missing \"phases\"" },
        { "phases of another type are refused", HEAD "{}}", "missing \"phases\"" },
        { "a phase without names is refused", HEAD "[{}]}",
          "phase 1 has no proper \"class\" (such as \"java/lang/String\")" },
        { "a phase that is a number is refused", HEAD "[7]}",
          "phase 1 has no proper \"class\" (such as \"java/lang/String\")" },
        { "a class in another form is refused", ROW("Lb/C;", "m", "()V"),
          "phase 1 has no proper \"class\" (such as \"java/lang/String\")" },
        { "a class with a slash at its end is refused", ROW("b/C/", "m", "()V"),
          "phase 1 has no proper \"class\" (such as \"java/lang/String\")" },
        { "a method with a slash is refused", ROW("b/C", "m/n", "()V"),
          "phase 1 has no proper \"method\" (such as \"length\")" },
        { "names may have what the JVM lets them have", ROW("a b/C(", "m (\\n)>", "(La b(c);)V"), NULL },
        { "a class with an empty part is refused", ROW("b//C", "m", "()V"),
          "phase 1 has no proper \"class\" (such as \"java/lang/String\")" },
        { "a type that is none is refused", ROW("b/C", "m", "(X)V"),
          "phase 1 has no proper \"descriptor\" (such as \"()I\")" },
        { "a descriptor with something behind it is refused", ROW("b/C", "m", "()VV"),
          "phase 1 has no proper \"descriptor\" (such as \"()I\")" },
        { "an empty method is refused", ROW("b/C", "", "()V"),
          "phase 1 has no proper \"method\" (such as \"length\")" },
        { "a descriptor without parameters is refused", ROW("b/C", "m", "V"),
          "phase 1 has no proper \"descriptor\" (such as \"()I\")" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct phases_file phases;
        char expected[512] = "";
        int rc = parse(rows[i].text, &phases);
        if (rows[i].what != NULL)
            snprintf(expected, sizeof expected,
                     "'x.json' is not a phases file: %s\n  next: make one with 'mmprof phases trace.dat'",
                     rows[i].what);
        if (!CHECK(rows[i].claim, rows[i].what == NULL ? rc == 0 : rc < 0 && strcmp(err.text, expected) == 0))
            printf("# %s\n", err.text);
    }
    struct phases_file phases;
    CHECK("a later version is refused",
          parse("{\"format\":\"mmprof phases\",\"version\":2,\"phases\":[]}", &phases) < 0);
    CHECK_TEXT("with both versions", err.text,
               "'x.json' is a phases file of version 2; this mmprof reads version 1\n"
               "  next: make it again with 'mmprof phases trace.dat'");
    parse(HEAD "[{\"class\":\"B\",\"method\":\"m\",\"descriptor\":\"()V\",\"calls\":-1,\"share\":\"x\"}]}", &phases);
    CHECK("numbers that are none are 0", phases.rows[0].calls == 0 && phases.rows[0].share == 0);
    CHECK("so are those that are missing",
          phases.total_ns == 0 && phases.weight == 0 && phases.grain == 0 && phases.budget == 0 && phases.pair_ns == 0);
    CHECK("but estimates are not known", phases.invocations_ratio == -1 && phases.time_ratio == -1);
}

static void test_deep_nesting(void)
{
    enum { DEPTH = 100000 };
    char *text = malloc(DEPTH + 1);
    memset(text, '[', DEPTH);
    text[DEPTH] = '\0';
    struct phases_file phases;
    CHECK("deep nesting is refused, not followed", parse(text, &phases) < 0);
    free(text);
}

static void test_files(void)
{
    const char *directory = getenv("SCRATCH") == NULL ? "/tmp" : getenv("SCRATCH");
    struct phases_file_row row = { { "a/B", "m", "()V" }, 1, 1, 1, 1 };
    struct phases_file phases = { "trace.dat", "cpu", 1, 0, 0, 0, 0, 0, 0, &row, 1 }, got;
    char path[512], missing[512];
    snprintf(path, sizeof path, "%s/phases.json", directory);
    snprintf(missing, sizeof missing, "%s/no/phases.json", directory);
    CHECK("a file is written and read", phases_file_write(&phases, path, &err) == 0 &&
                                            phases_file_read(path, &arena, &got, &err) == 0 && got.n_rows == 1);
    CHECK("it replaces the old one", phases_file_write(&phases, path, &err) == 0);
    static struct phases_file_row many[5000];
    for (size_t i = 0; i < 5000; i++)
        many[i] = row;
    struct phases_file large = phases;
    large.rows = many;
    large.n_rows = 5000;
    CHECK("a file of 5,000 phases, too", phases_file_write(&large, path, &err) == 0 &&
                                             phases_file_read(path, &arena, &got, &err) == 0 && got.n_rows == 5000);
    char device[64];
    struct stat status = { .st_size = 0 };
    int fd = open(path, O_RDWR | O_TRUNC | O_CLOEXEC);
    snprintf(device, sizeof device, "/dev/fd/%d", fd);
    CHECK("what is no plain file is written in place",
          phases_file_write(&phases, device, &err) == 0 && fstat(fd, &status) == 0 && status.st_size > 0);
    close(fd);
    CHECK("a directory that is not there is an error", phases_file_write(&phases, missing, &err) < 0);
    CHECK("that says what to do", strstr(err.text, "\n  next: name another file with --output FILE") != NULL);
    CHECK("so is a file that is not there", phases_file_read(missing, &arena, &got, &err) < 0);
    CHECK("with its next step", strstr(err.text, "\n  next: make it with 'mmprof phases trace.dat -o ") != NULL);
    unlink(path);
}

int main(void)
{
    test_round_trip();
    test_input();
    test_deep_nesting();
    test_files();
    arena_free(&arena);
    return tap_done();
}
