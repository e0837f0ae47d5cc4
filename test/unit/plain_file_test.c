/*
 * Files that somebody hostile names: nothing outside the root directory is opened, nothing waits, nothing but a regular
 * file is read.
 */
#include "core/base/plain_file.h"

#include "test/unit/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char place[] = "/tmp/mmprof-plain-XXXXXX";
static int root;

/* Directories: root/in, outside.  Returns whether all could be made. */
static bool make_files(void)
{
    const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "root/socket" };
    int file, large, s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_made = mkdtemp(place) != NULL && chdir(place) == 0 && mkdir("root", 0755) == 0 &&
                   mkdir("root/in", 0755) == 0 && symlink("/in/file", "root/link") == 0 &&
                   symlink("../../../../in/file", "root/in/up") == 0 && symlink("/etc/passwd", "root/out") == 0 &&
                   symlink("/usr", "root/etc") == 0 && symlink("loop", "root/loop") == 0 &&
                   symlink("in", "root/here") == 0 && mkfifo("root/fifo", 0644) == 0 &&
                   bind(s, (const struct sockaddr *)&address, sizeof address) == 0;
    file = open("root/in/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    large = open("root/large", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    is_made = is_made && write(file, "text", 4) == 4 && ftruncate(large, (off_t)PLAIN_FILE_BYTES_MAX + 1) == 0;
    close(file);
    close(large);
    close(s);
    root = open("root", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return is_made && root >= 0;
}

/* What is read there: "text", or why nothing is. */
static const char *read_there(const char *path)
{
    static char text[64];
    int fd = plain_file_open(root, path);
    if (fd < 0)
        return plain_file_why(errno);
    plain_file_text(fd, text, sizeof text);
    close(fd);
    return text;
}

static void test_opening(void)
{
    static const char no_file[] = "it is no regular file", not_there[] = "No such file or directory";
    static const struct {
        const char *claim, *path, *expected;
    } rows[] = {
        { "a regular file is read", "/in/file", "text" },
        { "a path may begin without a slash", "in//file", "text" },
        { "an absolute link is one of the root directory", "/link", "text" },
        { "'..' and links upwards end at it", "/../in/up", "text" },
        { "a link to a file outside finds nothing", "/out", not_there },
        { "nor does one to a directory", "/etc/passwd", not_there },
        { "nor does '..'", "/../../etc/passwd", not_there },
        { "a link to itself is refused", "/loop", "Too many levels of symbolic links" },
        { "a FIFO is refused, and does not wait", "/fifo", no_file },
        { "a directory is refused", "/in", no_file },
        { "a socket is refused", "/socket", no_file },
        { "a file that is too large is refused", "/large", "File too large" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_TEXT(rows[i].claim, read_there(rows[i].path), rows[i].expected);
}

static void test_sources(void)
{
    static const struct {
        const char *claim, *path;
        int error;
    } rows[] = {
        { "a source file is read", "in/file", 0 },
        { "also behind a link that the user has there", "here/file", 0 },
        { "'..' in the name of a class is refused", "in/../in/file", ELOOP },
        { "and as the name of a file", "../root/in/file", ELOOP },
        { "a source file that is a FIFO is refused", "fifo", EMEDIUMTYPE },
        { "or that is large", "large", EFBIG },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int fd = plain_file_source("root", rows[i].path), error = fd < 0 ? errno : 0;
        CHECK_NUMBER(rows[i].claim, error, rows[i].error);
        if (fd >= 0)
            close(fd);
    }
}

/* In the root directory of this machine. */
static void test_kernel(void)
{
    char path[64];
    int in_place = root;
    root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK_TEXT("a device is refused, and not opened", read_there("/dev/zero"), "it is no regular file");
    snprintf(path, sizeof path, "/proc/%d/cwd/root/in/file", (int)getpid());
    CHECK_TEXT("the kernel's own links are not followed", read_there(path), "Too many levels of symbolic links");
    close(root);
    root = in_place;
}

/* openat2 fails with this error from now on, as on an old kernel or below an old container runtime. */
static bool forbid_openat2(unsigned error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* Returns the first row that is wrong, or 0; in a process of its own. */
static int walk_rows(unsigned error)
{
    static const char *const rows[][2] = {
        { "/in/file", "text" },
        { "in//file", "text" },
        { "/link", "Too many levels of symbolic links" },
        { "/../root/in/file", "Too many levels of symbolic links" },
        { "/etc/passwd", "Not a directory" },
        { "/in/file/", "text" },
        { "/fifo", "it is no regular file" },
        { "/nowhere", "No such file or directory" },
    };
    if (!forbid_openat2(error))
        return 100;
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++)
        if (strcmp(read_there(rows[i][0]), rows[i][1]) != 0)
            return i + 1;
    int link = plain_file_find(root, "/link", O_NOFOLLOW);
    struct stat status;
    return link >= 0 && fstat(link, &status) == 0 && S_ISLNK(status.st_mode) ? 0 : 99;
}

static void test_old_kernel(void)
{
    static const unsigned errors[] = { ENOSYS, EPERM };
    for (int i = 0; i < 2; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0)
            _exit(walk_rows(errors[i]));
        waitpid(child, &status, 0);
        CHECK_NUMBER(i == 0 ? "without openat2, no link and no '..' is followed" : "nor where it is forbidden",
                     WIFEXITED(status) ? WEXITSTATUS(status) : 255, 0);
    }
}

static void test_cut(void)
{
    char text[8];
    int fd = plain_file_open(root, "/in/file");
    CHECK_NUMBER("at most what there is room for is read", plain_file_text(fd, text, 3), 2);
    CHECK("what was cut is read as it is now, and does no harm",
          truncate("root/in/file", 0) == 0 && plain_file_text(fd, text, sizeof text) == 0 && text[0] == '\0');
    close(fd);
}

static bool write_there(const char *path, const char *why)
{
    errno = 0;
    int fd = plain_file_create(path, 0);
    bool is_right = why == NULL ? fd >= 0 : fd < 0 && strstr(plain_file_why(errno), why) != NULL;
    if (fd >= 0)
        close(fd);
    return is_right;
}

/* In a directory where another user has put links to a file of root's. */
static void test_writing(void)
{
    struct stat status;
    char path[64];
    int fd = open("precious", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (geteuid() != 0) {
        SKIP("root writes through no link of another user", "it takes root to be two users");
        return;
    }
    CHECK("links are made", write(fd, "text", 4) == 4 && mkdir("theirs", 0777) == 0 &&
                                symlink("../precious", "theirs/soft") == 0 &&
                                lchown("theirs/soft", 65534, 65534) == 0 && link("precious", "theirs/hard") == 0 &&
                                symlink("new", "theirs/roots") == 0 && symlink("soft", "theirs/both") == 0);
    CHECK("root writes through no link of another user", write_there("theirs/soft", "a link that root did not make"));
    CHECK("nor through one that leads there", write_there("theirs/both", "a link that root did not make"));
    CHECK("nor into a file that has another name", write_there("theirs/hard", "the file has another name"));
    CHECK("the file is as it was", fstat(fd, &status) == 0 && status.st_size == 4);
    CHECK("a link that root made is followed", write_there("theirs/roots", NULL) && access("theirs/new", F_OK) == 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    CHECK("so is one of the kernel's own", unlink("theirs/hard") == 0 && write_there(path, NULL));
    CHECK("a file that is there is emptied", fstat(fd, &status) == 0 && status.st_size == 0);
    close(fd);
}

int main(void)
{
    if (!CHECK("files are made", make_files()))
        return tap_done();
    test_opening();
    test_sources();
    test_kernel();
    test_old_kernel();
    test_cut();
    test_writing();
    close(root);
    if (chdir("/") == 0 && fork() == 0)
        execlp("rm", "rm", "-r", place, (char *)NULL);
    wait(NULL);
    return tap_done();
}
