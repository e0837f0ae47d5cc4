/*
 * Which JVM a name means, and why one cannot be attached to.
 */
#include "core/jvm/target.h"
#include "test/unit/tap.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct jvm_running jvms[] = {
    { .pid = 11, .main = "com.example.Shop", .command = "java -Xmx1g -cp shop.jar com.example.Shop --port 8080" },
    { .pid = 12, .main = "com.example.Batch", .command = "java com.example.Batch --shop 8080" },
    { .pid = 13, .main = "/opt/app/orders.jar", .command = "java -jar /opt/app/orders.jar --port 9090" },
    { .pid = 14, .main = "app.web/org.Main", .command = "java -m app.web/org.Main" },
    { .pid = 15, .main = "org.other.Main", .command = "java org.other.Main" },
    { .pid = 16, .main = "", .command = "launcher --conf x.properties" },
};

static void test_names(void)
{
    static const struct {
        const char *claim, *name;
        pid_t pid; /* 0: refused */
    } rows[] = {
        { "a main class by its simple name", "Shop", 11 },
        { "a qualified one", "com.example.Shop", 11 },
        { "a part of its package is enough", "example.Batch", 12 },
        { "in other letters, where nothing fits exactly", "shop", 11 },
        { "a jar by its path", "/opt/app/orders.jar", 13 },
        { "a jar without its folder", "orders.jar", 13 },
        { "a jar without its ending", "orders", 13 },
        { "a module's main class", "org.Main", 14 },
        { "a part of the command line, in any letters", "Port 9090", 13 },
        { "one without a main class by its command line", "x.properties", 16 },
        { "two of the same simple name are ambiguous", "Main", 0 },
        { "so is what stands in several command lines", "8080", 0 },
        { "half of a class's name is a part of one command line", "Batc", 12 },
        { "what nothing has is refused", "absent", 0 },
        { "so is no name", "", 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err = { "" };
        pid_t pid = 0;
        int rc = jvm_target_choose(jvms, sizeof jvms / sizeof *jvms, rows[i].name, &pid, &err);
        CHECK_NUMBER(rows[i].claim, rc == 0 ? pid : 0, rows[i].pid);
    }
}

static void test_messages(void)
{
    struct err err = { "" };
    uint64_t start;
    pid_t pid;
    jvm_target_choose(jvms, 6, "Main", &pid, &err);
    CHECK_TEXT("an ambiguous name lists what it fits", err.text,
               "'Main' means one of 2 JVMs:\n       14  app.web/org.Main\n       15  org.other.Main\n"
               "  next: give one of these PIDs");
    jvm_target_choose(jvms, 1, "absent", &pid, &err);
    CHECK_TEXT("one that fits nothing lists what runs", err.text,
               "no JVM has 'absent' as its main class or jar, or in its command line; running JVMs:\n"
               "       11  com.example.Shop --port 8080\n"
               "  next: name one by its PID, main class or jar, or start one with -- java ...");
    jvm_target_choose(jvms, 0, "absent", &pid, &err);
    CHECK("or that nothing does", strstr(err.text, "no JVM runs here") != NULL && strstr(err.text, "  next: ") != NULL);
    CHECK("a number is a PID, whatever it is of", jvm_target_find("4711", &pid, &start, &err) == 0 && pid == 4711);
    CHECK("but not one that no process can have",
          jvm_target_find("99999999999", &pid, &start, &err) < 0 && jvm_target_find("0", &pid, &start, &err) < 0);
}

static void test_obstacles(void)
{
    static const struct {
        const char *word;
        struct jvm_process process;
        struct jvm_flags flags;
        struct jvm_release release;
    } rows[] = {
        { "yes", { .catches_quit = true }, { .tiered_stop = 4 }, { .major = 17 } },
        { "no-signal", { .catches_quit = false }, { .tiered_stop = 4 }, { .major = 17 } },
        { "openj9", { .catches_quit = true }, { .tiered_stop = 4 }, { .major = 17, .is_openj9 = true } },
        { "old-jdk", { .catches_quit = true }, { .tiered_stop = 4 }, { .major = 7 } },
        { "disabled", { .catches_quit = true }, { .attach_disabled = true }, { .major = 17 } },
        { "no-agents", { .catches_quit = true }, { .late_agents_disabled = true }, { .major = 17 } },
        { "stopped", { .catches_quit = true, .is_stopped = true }, { .tiered_stop = 4 }, { .major = 17 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct jvm_process process = rows[i].process;
        process.pid = process.inner_pid = getpid();
        process.user.uid = geteuid();
        CHECK_TEXT(rows[i].word, jvm_obstacle_word(jvm_obstacle_find(&process, &rows[i].flags, &rows[i].release)),
                   rows[i].word);
    }
}

/* Of a process that ended, another one may have the number. */
static void test_signals(void)
{
    struct jvm_process process, other;
    struct err err = { "" };
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    CHECK("a process is looked at", jvm_process_read(child, &process, &err) == 0);
    CHECK("when it started is known", process.start_ticks > 0 && process.start_ticks == jvm_process_start_ticks(child));
    other = process;
    other.start_ticks--;
    CHECK("another one with its number gets no signal", jvm_process_signal(&other, SIGKILL, &err) < 0);
    CHECK("and that is said", strstr(err.text, "has ended, and another process has its number\n  next: ") != NULL);
    CHECK("nor does it get SIGQUIT without a handler", jvm_process_signal(&process, SIGQUIT, &err) < 0);
    CHECK("it goes on", waitpid(child, &status, WNOHANG) == 0);
    CHECK("the process itself gets it", jvm_process_signal(&process, SIGKILL, &err) == 0 &&
                                            waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    CHECK("and none when it has ended", jvm_process_signal(&process, SIGKILL, &err) < 0);
}

static void test_list(void)
{
    struct arena arena = { NULL, 0 };
    struct jvm_running *all;
    struct err err;
    size_t n, n_own = 0;
    CHECK("the JVMs that run are listed", jvm_running_list(&arena, &all, &n, &err) == 0);
    for (size_t i = 0; i < n; i++)
        n_own += all[i].pid == getpid();
    CHECK("a process that is none is not one of them", n_own == 0);
    arena_free(&arena);
}

int main(void)
{
    test_names();
    test_messages();
    test_obstacles();
    test_signals();
    test_list();
    return tap_done();
}
