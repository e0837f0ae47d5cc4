/*
 * Names of files on the command line: those to be written, and directories that stand for the traces in them.
 */
#include "cmd/output_file.h"
#include "cmd/trace_argument.h"
#include "test/unit/tap.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct err err;

static void test_output_names(void)
{
    char name[PATH_MAX], host[256] = "";
    gethostname(host, sizeof host - 1);
    CHECK("a name may have the process ID", output_file_name("a-%p.dat", "-o", 4711, name, &err) == 0);
    CHECK_TEXT("of the JVM", name, "a-4711.dat");
    output_file_name("%h", "-o", 0, name, &err);
    CHECK_TEXT("the machine's name", name, host);
    output_file_name("%t", "-o", 0, name, &err);
    CHECK("and the time", strlen(name) == 15 && name[8] == '-' && strspn(name, "0123456789-") == 15);
    output_file_name("100%%-%20%", "-o", 0, name, &err);
    CHECK_TEXT("another % is one", name, "100%-%20%");
    CHECK("a command has no process ID yet", output_file_name("%p", "-o", 0, name, &err) < 0);
    CHECK("which is told", strstr(err.text, "  next: use %t") != NULL);
}

/* What stands for a directory, at most max traces, each without its path; "" : refused. */
static const char *traces_of(const char *word, size_t max)
{
    static char text[256];
    struct arena arena = { NULL, 0 };
    const char *paths[8] = { word };
    size_t n = 1;
    text[0] = '\0';
    if (trace_argument_find(&arena, paths, max, &n, &err) == 0)
        for (size_t i = 0; i < n; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i == 0 ? "" : " ", paths[i]);
    arena_free(&arena);
    return text;
}

static void touch(const char *path)
{
    FILE *file = fopen(path, "we");
    if (file != NULL)
        fclose(file);
}

static void test_directories(void)
{
    char directory[] = "/tmp/mmprof-test-XXXXXX";
    if (mkdtemp(directory) == NULL || chdir(directory) < 0) {
        SKIP("directories stand for traces", "there is no directory for it");
        return;
    }
    CHECK_TEXT("a directory without a trace is refused", traces_of(".", 8), "");
    CHECK_TEXT("a trace that is not there is left to who reads it", traces_of("trace.dat", 8), "trace.dat");
    mkdir("mmprof-profile", 0777);
    touch("mmprof-profile/phases.1.dat");
    touch("mmprof-profile/phases.2.dat");
    CHECK_TEXT("the groups of a profile", traces_of("mmprof-profile", 8),
               "mmprof-profile/phases.1.dat mmprof-profile/phases.2.dat");
    CHECK_TEXT("also of the directory in which it is", traces_of("trace.dat", 8),
               "mmprof-profile/phases.1.dat mmprof-profile/phases.2.dat");
    CHECK_TEXT("one trace is wanted", traces_of("mmprof-profile/", 1), "");
    CHECK("and one is named", strstr(err.text, "such as 'mmprof-profile/phases.1.dat'") != NULL);
    touch("mmprof-profile/trace.dat");
    touch("mmprof-profile/phases.dat");
    CHECK_TEXT("a profile's phases come before its first step", traces_of("mmprof-profile/", 8),
               "mmprof-profile/phases.dat");
    touch("phases.dat");
    CHECK_TEXT("the working directory's own come first", traces_of("trace.dat", 1), "phases.dat");
    touch("trace.dat");
    CHECK_TEXT("and first of all the usual one", traces_of("trace.dat", 1), "trace.dat");
    const char *const made[] = { "mmprof-profile/phases.1.dat",
                                 "mmprof-profile/phases.2.dat",
                                 "mmprof-profile/trace.dat",
                                 "mmprof-profile/phases.dat",
                                 "mmprof-profile",
                                 "phases.dat",
                                 "trace.dat",
                                 directory };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        remove(made[i]);
}

int main(void)
{
    test_output_names();
    test_directories();
    return tap_done();
}
