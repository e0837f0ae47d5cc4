/* Memory that a program needs: what it has, and how it ends without. */
#include "test/unit/tap.h"

#include "core/base/arena.h"
#include "core/base/xalloc.h"

#include <sys/wait.h>
#include <unistd.h>

static void test_growing(void)
{
    uint64_t *numbers = NULL;
    uint32_t room = 0, n = 0;
    bool is_same = true;
    for (uint32_t i = 0; i < 1000; i++)
        *xpush(numbers, room, n) = i * UINT64_C(3);
    for (uint32_t i = 0; i < n; i++)
        is_same = is_same && numbers[i] == i * UINT64_C(3);
    CHECK("a thousand elements are appended", n == 1000 && room == 1024 && is_same);
    xgrow_zeroed(numbers, room, 3000);
    CHECK("new elements are zero", numbers[1024] == 0 && numbers[2999] == 0);
    free(numbers);
}

static void test_texts(void)
{
    char *text = xasprintf("%s %d", "number", 7), *none = xstrndup("none", 0);
    CHECK_TEXT("text is printed", text, "number 7");
    CHECK_TEXT("and copied", none, "");
    free(text);
    free(none);
    text = xreallocarray(NULL, 0, 8);
    CHECK("no bytes are a pointer, too", text != NULL);
    free(text);
}

static volatile size_t huge = SIZE_MAX / 3;

static void too_long(void)
{
    xmalloc(huge);
}

static void too_many(void)
{
    xreallocarray(NULL, huge, 16);
}

static void too_many_elements(void)
{
    char *array = NULL;
    uint32_t room = 0;
    xgrow(array, room, huge);
}

static void too_much_of_an_arena(void)
{
    struct arena arena = { NULL, 0 };
    arena_alloc(&arena, huge * 2);
}

/* Whether it ends the program with status 1 and says so. */
static bool ends(void (*allocate)(void))
{
    int ends[2], status = 0;
    char said[256] = "";
    if (pipe(ends) < 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        allocate();
        _exit(0);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], said, sizeof said - 1);
    close(ends[0]);
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1 && n > 0 &&
           strncmp(said, "mmprof: out of memory\n  next: ", 30) == 0;
}

int main(void)
{
    test_growing();
    test_texts();
#ifdef __SANITIZE_ADDRESS__
    SKIP("without memory the program ends and says so", "AddressSanitizer ends it before");
    (void)too_long;
#else
    CHECK("without memory the program ends and says so", ends(too_long));
#endif
    CHECK("likewise for more elements than addresses", ends(too_many));
    CHECK("for more than an array's room can say", ends(too_many_elements));
    CHECK("and for an arena's", ends(too_much_of_an_arena));
    return tap_done();
}
