#include "core/agent/codecache/perf_file.h"

#include "test/unit/tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct perf_file file;
static char directory[256];

static const char *path_of(const char *name)
{
    static char path[PERF_FILE_PATH_BYTES];
    snprintf(path, sizeof path, "%.200s/%.40s", directory, name);
    return path;
}

static void put(const char *name, const char *text)
{
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    CHECK("a file is made", fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

/* What a file has; borrowed until the next call. */
static const char *text_of(const char *name)
{
    static char text[4096];
    int fd = open(path_of(name), O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n < 0 ? 0 : n] = '\0';
    return n < 0 ? "cannot be read" : text;
}

/* How many names the directory has, temporary ones too. */
static int count_names(void)
{
    char command[300];
    int n = -1;
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", directory);
    FILE *in = popen(command, "r");
    if (in == NULL || fscanf(in, "%d", &n) != 1)
        n = -1;
    if (in != NULL)
        pclose(in);
    return n;
}

static void test_lines(void)
{
    struct err err = { "" };
    struct stat status;
    umask(0);
    CHECK("a file is made where nothing is", perf_file_open(&file, path_of("new"), &err) == 0);
    CHECK("it is private whatever the umask", stat(path_of("new"), &status) == 0 && (status.st_mode & 07777) == 0600);
    CHECK_NUMBER("under one name", status.st_nlink, 1);
    CHECK("lines are taken", perf_file_add(&file, 0x7f00deadbee0, 0x1f0, "LMain;::work", &err) == 0 &&
                                 perf_file_add(&file, 0x1000, 16, "a\nff 1 forged\tb\x7f", &err) == 0);
    CHECK_TEXT("a line waits for a flush", text_of("new"), "");
    CHECK_NUMBER("a flush writes them", perf_file_flush(&file, &err), 0);
    CHECK_TEXT("in perf's format, and a name has one line", text_of("new"),
               "7f00deadbee0 1f0 LMain;::work\n1000 10 a?ff 1 forged?b?\n");
    CHECK_NUMBER("they are counted", file.n_lines, 2);
    perf_file_close(&file);
}

static void test_long_names(void)
{
    static char name[3 * PERF_FILE_LINE_BYTES];
    struct err err = { "" };
    struct stat status;
    memset(name, 'x', sizeof name - 1);
    perf_file_open(&file, path_of("long"), &err);
    for (int i = 0; i < 200; i++)
        if (perf_file_add(&file, 0, 1, name, &err) < 0)
            break;
    CHECK_NUMBER("long names are taken", file.n_lines, 200);
    CHECK_NUMBER("and written", perf_file_flush(&file, &err), 0);
    CHECK_NUMBER("cut to one length", stat(path_of("long"), &status) == 0 ? status.st_size : -1,
                 200 * PERF_FILE_LINE_BYTES);
    perf_file_close(&file);
}

/* The file of an earlier session is replaced, not changed: who has it open goes on reading it. */
static void test_replaced(void)
{
    struct err err = { "" };
    struct stat before, after;
    put("again", "old\n");
    stat(path_of("again"), &before);
    CHECK("an own file is replaced", perf_file_open(&file, path_of("again"), &err) == 0);
    CHECK("by another file", stat(path_of("again"), &after) == 0 && before.st_ino != after.st_ino);
    CHECK("which is private", (after.st_mode & 07777) == 0600);
    CHECK_TEXT("and empty", text_of("again"), "");
    perf_file_close(&file);
}

static void check_refused(const char *claim, const char *name, const char *what)
{
    struct err err = { "" };
    char text[512];
    int n = count_names();
    snprintf(text, sizeof text, "'%s' is there already, and is %s: it is left alone", path_of(name), what);
    CHECK(claim, perf_file_open(&file, path_of(name), &err) < 0 && file.fd < 0);
    CHECK_TEXT("it is said why", err.text, text);
    CHECK_NUMBER("and nothing is left", count_names(), n);
}

static void test_refusals(void)
{
    char target[PERF_FILE_PATH_BYTES];
    struct err err = { "" };
    put("victim", "precious");
    snprintf(target, sizeof target, "%s", path_of("victim"));
    CHECK("a link to a file is made", symlink(target, path_of("link")) == 0);
    check_refused("a symbolic link is refused", "link", "a symbolic link");
    CHECK_TEXT("and not followed", text_of("victim"), "precious");
    CHECK("a link to nothing is made", symlink("nowhere", path_of("dangling")) == 0);
    check_refused("a symbolic link to nothing is refused", "dangling", "a symbolic link");
    CHECK("what it names is not made", access(path_of("nowhere"), F_OK) < 0);
    CHECK("a pipe is made", mkfifo(path_of("pipe"), 0600) == 0);
    check_refused("a pipe is refused, not waited for", "pipe", "no regular file");
    CHECK("a directory is made", mkdir(path_of("folder"), 0700) == 0);
    check_refused("a directory is refused", "folder", "no regular file");
    if (geteuid() == 0) {
        put("foreign", "theirs");
        CHECK("a file is given away", chown(path_of("foreign"), 65534, 65534) == 0);
        check_refused("another user's file is refused, by root too", "foreign", "another user's");
        CHECK_TEXT("it is as it was", text_of("foreign"), "theirs");
    } else {
        SKIP("another user's file is refused", "it takes root to be two users");
    }
    CHECK("a directory that is not there is an error", perf_file_open(&file, path_of("no/where"), &err) < 0);
}

/* A limit on the size of files is a full disk; each line is flushed, or all at once. */
static void test_full(bool at_once)
{
    struct err err = { "" };
    struct rlimit old, limit;
    bool failed = false;
    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = 1000;
    signal(SIGXFSZ, SIG_IGN);
    perf_file_open(&file, path_of("full"), &err);
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int i = 0; i < 100 && !failed; i++)
        failed = perf_file_add(&file, 0x1000, 0x10, "LMain;::work", &err) < 0 ||
                 ((!at_once || i == 99) && perf_file_flush(&file, &err) < 0);
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK("a full disk is an error", failed);
    CHECK("with its reason", strstr(err.text, "beyond 987 bytes: File too large") != NULL);
    const char *text = text_of("full");
    CHECK_NUMBER("the file has what fitted, in whole lines", strlen(text), 987);
    CHECK_TEXT("up to the last one", text + 987 - 21, "1000 10 LMain;::work\n");
    perf_file_close(&file);
}

int main(void)
{
    const char *parent = getenv("TMPDIR");
    char command[300];
    snprintf(directory, sizeof directory, "%.200s/perf_file.XXXXXX", parent == NULL ? "/tmp" : parent);
    if (mkdtemp(directory) == NULL) {
        perror("mkdtemp");
        return 1;
    }
    test_lines();
    test_long_names();
    test_replaced();
    test_refusals();
    test_full(false);
    test_full(true);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    CHECK("the files are gone", system(command) == 0);
    return tap_done();
}
