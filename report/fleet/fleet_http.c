/* Source: curl/curl.h of libcurl 7 and 8, whose numbers of options never change. */
#include "report/fleet/fleet_engine.h"

#include "core/base/privileges.h"
#include "core/base/xalloc.h"

#include <dlfcn.h>
#include <sys/stat.h>

#define LIBRARY           "libcurl.so.4"
#define CONNECT_TIMEOUT_S 10L
#define QUERY_TIMEOUT_S   600L

enum {
    OPTION_WRITEDATA = 10001,
    OPTION_URL = 10002,
    OPTION_USERPWD = 10005,
    OPTION_READDATA = 10009,
    OPTION_TIMEOUT = 13,
    OPTION_POSTFIELDS = 10015,
    OPTION_HTTPHEADER = 10023,
    OPTION_POST = 47,
    OPTION_CONNECTTIMEOUT = 78,
    OPTION_NOSIGNAL = 99,
    OPTION_WRITEFUNCTION = 20011,
    OPTION_READFUNCTION = 20012,
    OPTION_POSTFIELDSIZE = 30120,
    INFO_RESPONSE_CODE = 0x200002
};

struct curl_calls {
    void *(*init)(void);
    void (*cleanup)(void *easy);
    int (*setopt)(void *easy, int option, ...);
    int (*perform)(void *easy);
    int (*getinfo)(void *easy, int info, ...);
    const char *(*strerror)(int code);
    void *(*append)(void *list, const char *text);
};

struct fleet_http {
    struct curl_calls calls;
    void *easy, *headers;
    char *login; /* owned */
    long limit_s;
};

struct received {
    char *bytes; /* owned */
    size_t n, room;
};

#define CALL(function, symbol)                        \
    {                                                 \
        symbol, offsetof(struct curl_calls, function) \
    }

static int find_calls(struct curl_calls *calls, void *library)
{
    static const struct {
        const char *name;
        size_t offset;
    } symbols[] = {
        CALL(init, "curl_easy_init"),       CALL(cleanup, "curl_easy_cleanup"), CALL(setopt, "curl_easy_setopt"),
        CALL(perform, "curl_easy_perform"), CALL(getinfo, "curl_easy_getinfo"), CALL(strerror, "curl_easy_strerror"),
        CALL(append, "curl_slist_append"),
    };
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *address = dlsym(library, symbols[i].name);
        if (address == NULL)
            return -1;
        memcpy((char *)calls + symbols[i].offset, &address, sizeof address);
    }
    return 0;
}

int fleet_http_open(struct fleet_http **http, const char *user, const char *password, struct err *err)
{
    struct fleet_http *h = *http = xcalloc(1, sizeof *h);
    if (privileges_drop(err) < 0)
        return -1;
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL || find_calls(&h->calls, library) < 0 || (h->easy = h->calls.init()) == NULL) {
        err_set(err, "cannot load " LIBRARY ", which speaks HTTP");
        return err_next(err, "install libcurl 7 or 8 (Debian: libcurl4)");
    }
    h->limit_s = QUERY_TIMEOUT_S;
    h->headers = h->calls.append(NULL, "Expect:"); /* no wait for '100 Continue' */
    h->login = xasprintf("%s:%s", user, password == NULL ? "" : password);
    return 0;
}

void fleet_http_close(struct fleet_http *h)
{
    if (h == NULL)
        return;
    if (h->easy != NULL)
        h->calls.cleanup(h->easy);
    free(h->login);
    free(h);
}

void fleet_http_limit(struct fleet_http *h, long seconds)
{
    h->limit_s = seconds;
}

static size_t receive(const char *bytes, size_t size, size_t n, void *to)
{
    struct received *received = to;
    xgrow(received->bytes, received->room, received->n + size * n + 1);
    memcpy(received->bytes + received->n, bytes, size * n);
    received->n += size * n;
    received->bytes[received->n] = '\0';
    return size * n;
}

static int perform(struct fleet_http *h, const char *url, struct received *received, long *status, struct err *err)
{
    h->calls.setopt(h->easy, OPTION_URL, url);
    h->calls.setopt(h->easy, OPTION_USERPWD, h->login);
    h->calls.setopt(h->easy, OPTION_HTTPHEADER, h->headers);
    h->calls.setopt(h->easy, OPTION_NOSIGNAL, 1L);
    h->calls.setopt(h->easy, OPTION_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
    h->calls.setopt(h->easy, OPTION_TIMEOUT, h->limit_s);
    h->calls.setopt(h->easy, OPTION_WRITEFUNCTION, receive);
    h->calls.setopt(h->easy, OPTION_WRITEDATA, received);
    int code = h->calls.perform(h->easy);
    if (code != 0)
        return err_set(err, "no answer: %s", h->calls.strerror(code));
    h->calls.getinfo(h->easy, INFO_RESPONSE_CODE, status);
    return 0;
}

/* The body is a file: its size is told before. */
static int open_file(struct fleet_http *h, const char *path, FILE **file, struct err *err)
{
    struct stat about;
    *file = path == NULL ? NULL : fopen(path, "r");
    if (path == NULL)
        return 0;
    if (*file == NULL || fstat(fileno(*file), &about) < 0)
        return err_set(err, "cannot read '%s': %s", path, strerror(errno));
    h->calls.setopt(h->easy, OPTION_POSTFIELDS, NULL);
    h->calls.setopt(h->easy, OPTION_READFUNCTION, fread);
    h->calls.setopt(h->easy, OPTION_READDATA, *file);
    h->calls.setopt(h->easy, OPTION_POSTFIELDSIZE, (long long)about.st_size);
    return 0;
}

int fleet_http_post(struct fleet_http *h, const char *url, const void *body, size_t n, const char *path, char **answer,
                    long *status, struct err *err)
{
    struct received received = { NULL, 0, 0 };
    FILE *file;
    *answer = NULL;
    h->calls.setopt(h->easy, OPTION_POST, 1L);
    h->calls.setopt(h->easy, OPTION_POSTFIELDSIZE, (long long)n);
    h->calls.setopt(h->easy, OPTION_POSTFIELDS, body);
    int rc = open_file(h, path, &file, err);
    if (rc == 0)
        rc = perform(h, url, &received, status, err);
    receive("", 1, 0, &received); /* for the NUL of an answer that has nothing */
    if (file != NULL)
        fclose(file);
    if (rc < 0)
        free(received.bytes);
    else
        *answer = received.bytes;
    return rc;
}

const char *fleet_http_escape(struct arena *arena, const char *text)
{
    size_t n = strlen(text), at = 0;
    char *escaped = arena_alloc(arena, 3 * n + 1);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        at += (size_t)snprintf(escaped + at, 3 * (n - i) + 1, is_plain ? "%c" : "%%%02X", c);
    }
    return escaped;
}
