#include "core/agent/lab/lab.h"

#include "core/wire/protocol.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/personality.h>

#define OWN_WORDS 4 /* in front of the JVM's arguments */

static char plugin_option[] = "-plugin"; /* as argv wants it */
static const char *const names[] = { PROTOCOL_EMULATOR, PROTOCOL_PLUGIN, PROTOCOL_TURN };

/* One JVM only finds the byte. */
static bool take_turn(const char *path)
{
    char turn;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool is_first = fd >= 0 && read(fd, &turn, 1) == 1;
    if (fd >= 0)
        close(fd);
    return is_first;
}

/* All n bytes, and a 0 behind them.  NULL: they cannot be read; else to be freed. */
static char *read_arguments(size_t *n)
{
    FILE *in = fopen("/proc/self/cmdline", "re");
    char *text = NULL;
    size_t room = 0;
    *n = 0;
    while (in != NULL && !feof(in) && !ferror(in)) {
        char *more = *n + 1 < room ? text : realloc(text, room += 65536);
        if (more == NULL)
            break;
        text = more;
        *n += fread(text + *n, 1, room - 1 - *n, in);
    }
    if (in == NULL || !feof(in) || *n == 0) {
        free(text);
        text = NULL;
    } else
        text[*n] = '\0';
    if (in != NULL)
        fclose(in);
    return text;
}

/* The emulator's words, then the arguments from the second on, which stay in text.  NULL: no memory. */
static char **make_words(char *emulator, char *plugin, char *program, char *text, size_t n)
{
    size_t n_arguments = 0, at = 0;
    for (size_t i = 0; i < n; i++)
        n_arguments += text[i] == '\0';
    char **words = calloc(OWN_WORDS + n_arguments + 1, sizeof *words);
    if (words == NULL)
        return NULL;
    words[at++] = emulator;
    words[at++] = plugin_option;
    words[at++] = plugin;
    words[at++] = program;
    for (size_t i = strlen(text) + 1; i < n; i += strlen(text + i) + 1)
        words[at++] = text + i;
    return words;
}

/* Returns only when that fails; then all is as before. */
static void become(char *emulator, char *plugin)
{
    char program[4096];
    size_t n;
    char *text = read_arguments(&n);
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    char **words = NULL;
    if (text != NULL && length > 0) {
        program[length] = '\0';
        if (access(program, X_OK) == 0) /* it may be gone, or longer */
            words = make_words(emulator, plugin, program, text, n);
    }
    if (words != NULL) {
        sigset_t none, before;
        int kind = personality(UINT32_MAX);
        sigemptyset(&none);
        pthread_sigmask(SIG_SETMASK, &none, &before); /* HotSpot's threads block some */
        personality(ADDR_NO_RANDOMIZE);               /* the same program has the same misses again */
        execv(words[0], words);
        personality((unsigned long)kind);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    free(words);
    free(text);
}

bool emulate_self(void)
{
    char *copies[3] = { NULL };
    bool is_asked = true, is_first = false;
    for (size_t i = 0; i < 3; i++) {
        const char *text = secure_getenv(names[i]);
        copies[i] = text == NULL ? NULL : strdup(text);
        is_asked = is_asked && copies[i] != NULL;
        unsetenv(names[i]); /* for what it becomes, and for what that starts */
    }
    if (is_asked) {
        is_first = take_turn(copies[2]);
        if (is_first)
            become(copies[0], copies[1]);
    }
    for (size_t i = 0; i < 3; i++)
        free(copies[i]);
    return !is_asked || is_first;
}
