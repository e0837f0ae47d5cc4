#include "core/jvm/flags.h"

#include "core/jvm/maps.h"
#include "core/jvm/perf_data.h"
#include "core/jvm/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES (256 * 1024)

static bool begins(const char *word, const char *start)
{
    return strncmp(word, start, strlen(start)) == 0;
}

/* ---- options ---- */

static void take_agent(struct jvm_flags *flags, const char *word)
{
    bool is_jdwp = begins(word, "-agentlib:jdwp") || begins(word, "-Xrunjdwp");
    flags->debugger |= is_jdwp;
    if (!is_jdwp && flags->agent[0] == '\0')
        snprintf(flags->agent, sizeof flags->agent, "%s", word);
}

/* "-XX:+NAME" and "-XX:-NAME". */
static bool take_switch(const char *word, const char *name, bool *value)
{
    if (!begins(word, "-XX:") || (word[4] != '+' && word[4] != '-') || strcmp(word + 5, name) != 0)
        return false;
    *value = word[4] == '+';
    return true;
}

/* JDK 25 takes AOTMode=record from AOTCacheOutput, unless another mode was given. */
static void take_archive(struct jvm_flags *flags, const char *word)
{
    static const char mode[] = "-XX:AOTMode=";
    bool is_asked = false;
    if (strcmp(word, "-Xshare:dump") == 0 || begins(word, "-XX:ArchiveClassesAtExit=") ||
        begins(word, "-XX:AOTCacheOutput=") ||
        (begins(word, mode) && strcmp(word + sizeof mode - 1, "record") == 0 && flags->archive[0] == '\0') ||
        (take_switch(word, "RecordDynamicDumpInfo", &is_asked) && is_asked))
        snprintf(flags->archive, sizeof flags->archive, "%s", word);
    flags->archive_bars_agents = flags->archive[0] != '\0' && !begins(flags->archive, "-XX:AOT");
    take_switch(word, "AutoCreateSharedArchive", &flags->may_archive);
}

static void take_option(struct jvm_flags *flags, const char *word)
{
    static const char tiered[] = "-XX:TieredStopAtLevel=";
    if (strcmp(word, "-Xint") == 0 || strcmp(word, "-Xmixed") == 0 || strcmp(word, "-Xcomp") == 0)
        flags->interprets = strcmp(word, "-Xint") == 0;
    else if (strcmp(word, "-Xrs") == 0)
        flags->no_signals = true;
    else if (begins(word, tiered))
        flags->tiered_stop = atoi(word + sizeof tiered - 1);
    else if (begins(word, "-agentlib:") || begins(word, "-agentpath:") || begins(word, "-javaagent:") ||
             begins(word, "-Xrunjdwp"))
        take_agent(flags, word);
    else if (take_switch(word, "EnableDynamicAgentLoading", &flags->late_agents_enabled))
        flags->late_agents_disabled = !flags->late_agents_enabled;
    else if (!take_switch(word, "DisableAttachMechanism", &flags->attach_disabled))
        take_archive(flags, word);
}

/* Options of the launcher whose value is the next word. */
static bool has_value(const char *word)
{
    static const char *const names[] = {
        "-cp",           "-classpath",  "--class-path", "-p", "--module-path", "--add-modules", "--add-opens",
        "--add-exports", "--add-reads", "-splash",      NULL
    };
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(word, names[i]) == 0)
            return true;
    return false;
}

static bool ends_options(const char *word)
{
    return (word[0] != '-' && word[0] != '@') || strcmp(word, "-jar") == 0 || strcmp(word, "-m") == 0 ||
           strcmp(word, "--module") == 0;
}

void jvm_flags_command(struct jvm_flags *flags, const char *words, size_t n)
{
    const char *end = words + n, *word = words;
    bool skip = true; /* the program itself */
    for (; word < end; word += strnlen(word, (size_t)(end - word)) + 1) {
        if (memchr(word, '\0', (size_t)(end - word)) == NULL)
            return;
        if (!skip && ends_options(word))
            return;
        if (!skip)
            take_option(flags, word);
        skip = !skip && has_value(word);
    }
}

const char *jvm_flags_main(const char *words, size_t n)
{
    const char *end = words + n, *word = words;
    bool skip = true; /* the program itself */
    for (; word < end; word += strlen(word) + 1) {
        if (memchr(word, '\0', (size_t)(end - word)) == NULL)
            return NULL;
        if (!skip && ends_options(word))
            break;
        skip = !skip && has_value(word);
    }
    if (word < end && word[0] == '-')
        word += strlen(word) + 1;
    return word < end && memchr(word, '\0', (size_t)(end - word)) != NULL && word[0] != '\0' ? word : NULL;
}

void jvm_flags_told(struct jvm_flags *flags, const char *text)
{
    char word[1024];
    while (*text != '\0') {
        size_t n = strcspn(text, " \t\n");
        snprintf(word, sizeof word, "%s%.*s", *text == '-' ? "" : "-XX:", (int)(n < 1000 ? n : 1000), text);
        take_option(flags, word);
        text += n;
        text += strspn(text, " \t\n");
    }
}

void jvm_flags_environment(struct jvm_flags *flags, const char *variables, size_t n)
{
    static const char *const names[] = { "JAVA_TOOL_OPTIONS=", "JDK_JAVA_OPTIONS=", "_JAVA_OPTIONS=" };
    const char *end = variables + n;
    for (const char *at = variables; at < end; at += strlen(at) + 1) {
        if (memchr(at, '\0', (size_t)(end - at)) == NULL)
            return;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (begins(at, names[i]))
                jvm_flags_told(flags, at + strlen(names[i]));
    }
}

/* ---- files ---- */

/* "@FILE", and what the JVM itself reads. */
static const char *file_of_options(const char *word)
{
    static const char *const starts[] = { "@", "-XX:Flags=", "-XX:VMOptionsFile=" };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (begins(word, starts[i]))
            return word + strlen(starts[i]);
    return NULL;
}

static void take_file(struct jvm_flags *flags, const char *path)
{
    char *text = malloc(FILE_BYTES);
    if (text != NULL && jvm_read_file(path, text, FILE_BYTES) > 0)
        jvm_flags_told(flags, text);
    free(text);
}

void jvm_flags_launch(struct jvm_flags *flags, char *const *argv, bool is_java)
{
    *flags = (struct jvm_flags){ .tiered_stop = 4 };
    for (char *const *variable = environ; *variable != NULL; variable++)
        jvm_flags_environment(flags, *variable, strlen(*variable) + 1);
    for (char *const *word = argv; is_java && *++word != NULL && !ends_options(*word);) {
        const char *file = file_of_options(*word);
        if (file != NULL)
            take_file(flags, file);
        else if (has_value(*word) && word[1] != NULL)
            word++;
        else
            take_option(flags, *word);
    }
}

static void read_told(pid_t pid, struct jvm_flags *flags, char *text)
{
    struct perf_data data;
    struct err ignored;
    if (perf_data_open(&data, pid, jvm_process_inner_pid(pid), &ignored) == 0 && perf_data_read(&data, &ignored) == 0) {
        if (perf_data_text(&data, "java.rt.vmFlags", text, FILE_BYTES))
            jvm_flags_told(flags, text);
        if (perf_data_text(&data, "java.rt.vmArgs", text, FILE_BYTES))
            jvm_flags_told(flags, text);
    }
    perf_data_close(&data);
}

int jvm_flags_read(pid_t pid, struct jvm_flags *flags)
{
    char path[64], *text = malloc(FILE_BYTES);
    *flags = (struct jvm_flags){ .tiered_stop = 4 };
    if (text == NULL)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    ssize_t n = jvm_read_file(path, text, FILE_BYTES);
    if (n > 0)
        jvm_flags_environment(flags, text, (size_t)n);
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    n = jvm_read_file(path, text, FILE_BYTES);
    if (n > 0)
        jvm_flags_command(flags, text, (size_t)n);
    if (n > 0)
        read_told(pid, flags, text);
    free(text);
    return n > 0 ? 0 : -1;
}

/* ---- release ---- */

/* The text between the quotes of KEY="text" at the beginning of a line, or "". */
static void value_of(const char *text, const char *key, char *value, size_t n)
{
    value[0] = '\0';
    size_t n_key = strlen(key);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n_key) != 0 || strncmp(line + n_key, "=\"", 2) != 0)
            continue;
        const char *start = line + n_key + 2;
        size_t length = strcspn(start, "\"\n");
        snprintf(value, n, "%.*s", (int)(length < n ? length : n - 1), start);
        return;
    }
}

static int find_major(struct jvm_release *release)
{
    release->major = atoi(begins(release->version, "1.") ? release->version + 2 : release->version);
    return release->major > 0 ? 0 : -1;
}

int jvm_release_parse(const char *text, struct jvm_release *release)
{
    char variant[32];
    release->is_replaced = false;
    value_of(text, "JAVA_VERSION", release->version, sizeof release->version);
    value_of(text, "IMPLEMENTOR", release->implementor, sizeof release->implementor);
    value_of(text, "JVM_VARIANT", variant, sizeof variant);
    release->is_openj9 = strcasecmp(variant, "openj9") == 0;
    return find_major(release);
}

/* The file beside a library: JDK/lib/server/libjvm.so; a folder more in JDK 8.  Cuts the path. */
static int open_release(const struct jvm_root *root, char *libjvm)
{
    char path[PATH_MAX + sizeof "/release"], *slash;
    int fd = -1;
    for (int up = 0; up < 5 && fd < 0 && (slash = strrchr(libjvm, '/')) != NULL; up++) {
        *slash = '\0';
        snprintf(path, sizeof path, "%s/release", libjvm);
        fd = up < 2 ? -1 : jvm_root_file(root, path);
    }
    return fd;
}

/* The JVM's own words: the file belongs to another JDK, or is gone. */
static int release_told(pid_t pid, struct jvm_release *release)
{
    struct perf_data data;
    struct err ignored;
    *release = (struct jvm_release){ .is_replaced = true };
    if (perf_data_open(&data, pid, jvm_process_inner_pid(pid), &ignored) == 0) {
        perf_data_text(&data, "java.property.java.version", release->version, sizeof release->version);
        perf_data_text(&data, "java.property.java.vm.vendor", release->implementor, sizeof release->implementor);
    }
    perf_data_close(&data);
    return find_major(release);
}

int jvm_release_read(pid_t pid, struct jvm_release *release)
{
    struct jvm_mapped libjvm;
    struct jvm_root root;
    char text[8192];
    if (jvm_mapped_find(pid, "/libjvm.so", &libjvm) <= 0)
        return -1;
    if (libjvm.mapping.is_deleted)
        return release_told(pid, release);
    const char *path = jvm_root_open(&root, pid) < 0 ? NULL : jvm_root_path(&root, libjvm.path);
    int fd = path == NULL ? -1 : open_release(&root, libjvm.path + strlen(root.prefix));
    int rc = fd < 0 || plain_file_text(fd, text, sizeof text) < 0 ? -1 : jvm_release_parse(text, release);
    if (fd >= 0)
        close(fd);
    jvm_root_close(&root);
    return rc;
}
