#include "cmd/terminal.h"

#include "core/base/text.h"
#include "core/base/utf8.h"

#include <sys/ioctl.h>

bool terminal_is_one(FILE *out)
{
    const char *kind = getenv("TERM");
    return isatty(fileno(out)) && (kind == NULL || strcmp(kind, "dumb") != 0);
}

void terminal_enter(struct terminal *terminal, FILE *out)
{
    struct termios raw;
    terminal->out = out;
    terminal->is_entered = true;
    terminal->has_keys = tcgetattr(STDIN_FILENO, &terminal->before) == 0;
    if (terminal->has_keys) {
        raw = terminal->before;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        raw.c_cc[VMIN] = raw.c_cc[VTIME] = 0;
        raw.c_cc[VSUSP] = _POSIX_VDISABLE; /* a stopped mmprof would leave the screen and a full buffer behind */
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    fputs("\033[?1049h\033[?25l\033[2J", out);
    fflush(out);
}

void terminal_leave(struct terminal *terminal)
{
    if (!terminal->is_entered)
        return;
    terminal->is_entered = false;
    fputs("\033[?25h\033[?1049l", terminal->out);
    fflush(terminal->out);
    if (terminal->has_keys)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &terminal->before);
}

/* Bytes of the first n characters of a line of UTF-8. */
static size_t bytes_of(const char *line, size_t n_bytes, size_t n)
{
    size_t at = 0;
    while (at < n_bytes) {
        if (((unsigned char)line[at] & 0xc0) != 0x80 && n-- == 0)
            break;
        at++;
    }
    return at;
}

static struct winsize size_of(FILE *out)
{
    struct winsize size;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) < 0 || size.ws_row == 0 || size.ws_col == 0)
        size = (struct winsize){ 24, 80, 0, 0 };
    return size;
}

size_t terminal_columns(FILE *out)
{
    return size_of(out).ws_col;
}

void terminal_draw_over(FILE *out, const char *text, unsigned *n_lines)
{
    struct winsize size = size_of(out);
    fputs("\r", out);
    if (*n_lines > 0)
        fprintf(out, "\033[%uA", *n_lines);
    fputs("\033[J", out);
    for (*n_lines = 0; *n_lines + 2 < size.ws_row && *text != '\0'; ++*n_lines) {
        size_t n = strcspn(text, "\n");
        fprintf(out, "%.*s\n", (int)bytes_of(text, n, size.ws_col), text);
        text += n + (text[n] == '\n');
    }
    fflush(out);
}

void terminal_draw(struct terminal *terminal, const char *text)
{
    struct winsize size = size_of(terminal->out);
    fputs("\033[H", terminal->out);
    for (unsigned row = 0; row < size.ws_row && *text != '\0'; row++) {
        size_t n = strcspn(text, "\n");
        fprintf(terminal->out, "%s%.*s\033[K", row == 0 ? "" : "\r\n", (int)bytes_of(text, n, size.ws_col), text);
        text += n + (text[n] == '\n');
    }
    fputs("\033[J", terminal->out);
    fflush(terminal->out);
}

int terminal_key(const struct terminal *terminal)
{
    unsigned char key;
    return terminal->has_keys && read(STDIN_FILENO, &key, 1) == 1 ? key : 0;
}

void terminal_text(FILE *out, const char *text, size_t n)
{
    const char *end = text + n;
    while (text < end) {
        uint32_t character = utf8_take(&text, end);
        if (utf8_is_control(character))
            fprintf(out, character < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)character);
        else
            text_put(out, character);
    }
}
