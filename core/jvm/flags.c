#include "core/jvm/flags.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "core/jvm/maps.h"
#include "core/jvm/flag_words.h"
#include "core/jvm/perf_data.h"
#include "core/jvm/process.h"

#define FILE_BYTES (256 * 1024)

/* ---- files ---- */

/* "@FILE", and what the JVM itself reads. */
static const char *file_of_options(const char *word)
{
    static const char *const starts[] = { "@", "-XX:Flags=", "-XX:VMOptionsFile=" };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (text_begins(word, starts[i]))
            return word + strlen(starts[i]);
    return NULL;
}

static void take_file(struct jvm_flags *flags, const char *path)
{
    char *text = xmalloc(FILE_BYTES);
    if (jvm_read_file(path, text, FILE_BYTES) > 0)
        jvm_flags_told(flags, text);
    free(text);
}

void jvm_flags_launch(struct jvm_flags *flags, char *const *argv, bool is_java)
{
    *flags = (struct jvm_flags){ .tiered_stop = 4 };
    for (char *const *variable = environ; *variable != NULL; variable++)
        jvm_flags_environment(flags, *variable, strlen(*variable) + 1);
    for (char *const *word = argv; is_java && *++word != NULL && !flag_words_end(*word);) {
        const char *file = file_of_options(*word);
        if (file != NULL)
            take_file(flags, file);
        else if (flag_words_has_value(*word) && word[1] != NULL)
            word++;
        else
            flag_words_take(flags, *word);
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
    char path[64], *text = xmalloc(FILE_BYTES);
    *flags = (struct jvm_flags){ .tiered_stop = 4 };
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
    release->major = atoi(text_begins(release->version, "1.") ? release->version + 2 : release->version);
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

/* The JVM's own words: there is no such file, or it belongs to another JDK. */
static int release_told(pid_t pid, bool is_replaced, struct jvm_release *release)
{
    struct perf_data data;
    struct err ignored;
    *release = (struct jvm_release){ .is_replaced = is_replaced };
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
        return release_told(pid, true, release);
    const char *path = jvm_root_open(&root, pid) < 0 ? NULL : jvm_root_path(&root, libjvm.path);
    int fd = path == NULL ? -1 : open_release(&root, libjvm.path + strlen(root.prefix));
    int rc = fd < 0 || plain_file_text(fd, text, sizeof text) < 0 ? -1 : jvm_release_parse(text, release);
    if (fd >= 0)
        close(fd);
    jvm_root_close(&root);
    return rc == 0 ? 0 : release_told(pid, false, release);
}
