#include "core/jvm/perf_data.h"

#include "core/base/bytes.h"
#include "core/base/xalloc.h"
#include "core/jvm/jvm_root.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

/* The file begins with them, and with where the entries begin, and how many there are (jdk.internal.perf). */
#define MAGIC        UINT32_C(0xc0c0feca) /* ca fe c0 c0 */
#define IS_LITTLE    1
#define ENTRIES_AT   24
#define HEADER_BYTES 20 /* of an entry */
#define DIRECTORY    "hsperfdata_"

void perf_data_init(struct perf_data *data)
{
    *data = (struct perf_data){ .fd = -1 };
}

void perf_data_close(struct perf_data *data)
{
    if (data->fd >= 0)
        close(data->fd);
    free(data->bytes);
    perf_data_init(data);
}

/* ---- finding it ---- */

/* In a directory of some user, in the JVM's /tmp; it belongs to whom the process does. */
static int open_in(const struct jvm_root *root, const char *user, pid_t inner_pid)
{
    char path[512];
    struct stat about;
    snprintf(path, sizeof path, "/tmp/%s/%d", user, (int)inner_pid);
    int fd = jvm_root_file(root, path);
    if (fd >= 0 && (fstat(fd, &about) < 0 || about.st_uid != root->user.uid)) {
        close(fd);
        return -1;
    }
    return fd;
}

static int open_any(const struct jvm_root *root, pid_t inner_pid)
{
    int found = jvm_root_find(root, "/tmp", O_DIRECTORY), fd = -1;
    int listed = found < 0 ? -1 : openat(found, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = listed < 0 ? NULL : fdopendir(listed);
    const struct dirent *entry;
    /* cppcheck-suppress readdirCalled */
    while (dir != NULL && fd < 0 && (entry = readdir(dir)) != NULL)
        if (strncmp(entry->d_name, DIRECTORY, sizeof DIRECTORY - 1) == 0)
            fd = open_in(root, entry->d_name, inner_pid);
    if (dir != NULL)
        closedir(dir);
    else if (listed >= 0)
        close(listed);
    if (found >= 0)
        close(found);
    return fd;
}

int perf_data_open(struct perf_data *data, pid_t pid, pid_t inner_pid, struct err *err)
{
    struct jvm_root root;
    perf_data_init(data);
    if (jvm_root_open(&root, pid) < 0 && errno == EACCES && pid == inner_pid)
        root.fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC); /* its own is hidden from us, and probably ours */
    else if (root.fd < 0)
        return err_set(err, "there is no process %d", (int)pid);
    data->fd = root.fd < 0 ? -1 : open_any(&root, inner_pid);
    jvm_root_close(&root);
    if (data->fd < 0) {
        err_set(err, "JVM %d shows no counters of its own in its /tmp/hsperfdata_*", (int)pid);
        return err_next(err, "check that it does not run with -XX:-UsePerfData");
    }
    return perf_data_read(data, err);
}

/* ---- reading ---- */

int perf_data_read(struct perf_data *data, struct err *err)
{
    struct stat about;
    if (data->fd < 0 || fstat(data->fd, &about) < 0)
        return err_set(err, "the JVM's counters are not open");
    size_t n = (size_t)about.st_size < PERF_DATA_BYTES_MAX ? (size_t)about.st_size : PERF_DATA_BYTES_MAX;
    data->bytes = xrealloc(data->bytes, n + 1);
    ssize_t got = pread(data->fd, data->bytes, n, 0);
    data->n = got < 0 ? 0 : (size_t)got;
    return got < 0 ? err_set(err, "cannot read the JVM's counters: %s", strerror(errno)) : 0;
}

int perf_data_read_part(struct perf_data *data, size_t begin, size_t end, struct err *err)
{
    if (data->fd < 0 || begin > end || end > data->n)
        return err_set(err, "the JVM's counters have not been read");
    ssize_t got = pread(data->fd, data->bytes + begin, end - begin, (off_t)begin);
    if (got < 0)
        return err_set(err, "cannot read the JVM's counters: %s", strerror(errno));
    return got == (ssize_t)(end - begin) ? 0 : err_set(err, "the JVM's counters have become fewer");
}

struct perf_data_entry {
    char type; /* 'J' a number, 'B' bytes */
    const char *name;
    const uint8_t *value;
    size_t n; /* bytes of the value */
};

/* Take the next entry; false: it is damaged. */
static bool next_entry(struct cursor *c, struct perf_data_entry *entry)
{
    struct cursor header = *c;
    uint32_t length = cursor_u32le(&header), name = cursor_u32le(&header), n_vector = cursor_u32le(&header);
    entry->type = (char)cursor_u8(&header);
    cursor_bytes(&header, 3);
    uint32_t value = cursor_u32le(&header);
    const uint8_t *start = length < HEADER_BYTES ? NULL : cursor_bytes(c, length);
    if (header.bad || start == NULL || name >= length || value > length ||
        memchr(start + name, '\0', length - name) == NULL)
        return false;
    entry->name = (const char *)start + name;
    entry->value = start + value;
    entry->n = n_vector == 0 ? length - value : n_vector;
    return entry->n <= length - value;
}

static bool find_entry(const struct perf_data *data, const char *name, struct perf_data_entry *entry)
{
    struct cursor c = cursor_over(data->bytes, data->n);
    uint32_t magic = cursor_u32le(&c);
    if (magic != MAGIC || cursor_u8(&c) != IS_LITTLE || cursor_bytes(&c, ENTRIES_AT - 5) == NULL)
        return false;
    uint32_t at = cursor_u32le(&c), n = cursor_u32le(&c);
    c = cursor_over(data->bytes, data->n);
    if (cursor_bytes(&c, at) == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!next_entry(&c, entry))
            return false;
        if (strcmp(entry->name, name) == 0)
            return true;
    }
    return false;
}

size_t perf_data_offset(const struct perf_data *data, const char *name)
{
    struct perf_data_entry entry;
    if (data->n == 0 || !find_entry(data, name, &entry) || entry.type != 'J' || entry.n < 8)
        return 0;
    return (size_t)(entry.value - data->bytes);
}

bool perf_data_at(const struct perf_data *data, size_t offset, uint64_t *value)
{
    if (offset > data->n || data->n - offset < 8)
        return false;
    struct cursor c = cursor_over(data->bytes + offset, 8);
    *value = cursor_u64le(&c);
    return true;
}

bool perf_data_number(const struct perf_data *data, const char *name, uint64_t *value)
{
    size_t offset = perf_data_offset(data, name);
    return offset != 0 && perf_data_at(data, offset, value);
}

bool perf_data_text(const struct perf_data *data, const char *name, char *text, size_t n)
{
    struct perf_data_entry entry;
    if (data->n == 0 || !find_entry(data, name, &entry) || entry.type != 'B')
        return false;
    snprintf(text, n, "%.*s", (int)strnlen((const char *)entry.value, entry.n), (const char *)entry.value);
    return true;
}
