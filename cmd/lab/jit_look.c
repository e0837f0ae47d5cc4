#include "cmd/lab/lab_command.h"

#include "core/hotspot/vm.h"
#include "core/jvm/started.h"

#define LOOK_MS    100  /* between two looks */
#define LOOK_PARTS 20   /* a look may take this part of the time, by our own CPU time */
#define REST_MS    1000 /* but what is seen at the end is not older */
#define START_MS   10   /* between two questions whether there is a JVM already */
#define ENDING_MS  200  /* that a command may take to end when looking is over, */
#define ENDED_MS   5000 /* and after its JVM's end: on a busy machine that takes a while */

void jit_look_init(struct jit_look *l, const struct jit_look_user *user, double seconds)
{
    *l = (struct jit_look){ .user = user, .seconds = seconds, .launch = LAUNCH_NONE };
}

void jit_look_close(struct jit_look *l)
{
    jit_codes_close(&l->codes);
    vm_close(l->vm);
}

static uint64_t clock_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t now_ms(void)
{
    return clock_ms(CLOCK_MONOTONIC);
}

static int open_jvm(struct jit_look *l, pid_t pid, struct err *err)
{
    const struct jit_look_user *user = l->user;
    l->vm = vm_open(pid, err);
    if (l->vm == NULL || jit_codes_open(l->vm, &l->codes, user->wants, user->wants_context, err) < 0)
        return -1;
    l->codes.has_all_tiers = user->all_tiers;
    l->has_jvm = true;
    if (user->open != NULL)
        user->open(user->context, &l->codes);
    return 0;
}

/* Until when not to look again, in *next_ms. */
static void look_once(struct jit_look *l, uint64_t *next_ms)
{
    uint64_t begin = clock_ms(CLOCK_THREAD_CPUTIME_ID);
    l->has_ended = !jit_codes_look(&l->codes);
    uint64_t end = now_ms(), rest = (clock_ms(CLOCK_THREAD_CPUTIME_ID) - begin) * LOOK_PARTS;
    if (!l->has_ended)
        l->user->looked(l->user->context, &l->codes);
    *next_ms = end + (rest < LOOK_MS ? LOOK_MS : rest > REST_MS ? REST_MS : rest);
}

/* For some time, or until the command ends. */
static void pause_until(struct jit_look *l, uint64_t ms)
{
    uint64_t now = now_ms();
    int left = ms > now ? (int)(ms - now) : 0;
    const struct timespec rest = { left / 1000, (long)(left % 1000) * 1000000 };
    if (l->command != 0 && launch_wait(l->command, left, &l->status)) {
        l->command = 0;
        l->launch.is_over = true;
    } else if (l->command == 0)
        nanosleep(&rest, NULL);
}

int jit_look_into_jvm(struct jit_look *l, pid_t pid, struct err *err)
{
    uint64_t end = now_ms() + (uint64_t)(l->seconds * 1000), next;
    if (open_jvm(l, pid, err) < 0)
        return -1;
    do {
        look_once(l, &next);
        pause_until(l, next < end ? next : end);
    } while (now_ms() < end && !l->has_ended);
    return 0;
}

static int find_jvm(struct jit_look *l, uint64_t *next, struct err *err)
{
    pid_t pid = jvm_started(getpid(), NULL);
    *next = now_ms() + START_MS;
    return pid == 0 ? 0 : open_jvm(l, pid, err);
}

int jit_look_into_command(struct jit_look *l, char *const *argv, struct err *err)
{
    uint64_t end = l->seconds > 0 ? now_ms() + (uint64_t)(l->seconds * 1000) : UINT64_MAX, next;
    if (launch_fork(&l->launch, &(struct launch_plan){ .argv = argv }, err) < 0 ||
        launch_go(&l->launch, argv[0], err) < 0)
        return -1;
    l->command = l->launch.pid;
    while (now_ms() < end && !l->has_ended && (l->has_jvm || l->command != 0 || launch_look(&l->launch))) {
        if (l->has_jvm)
            look_once(l, &next);
        else if (find_jvm(l, &next, err) < 0)
            return -1;
        pause_until(l, next < end ? next : end);
    }
    if (l->has_jvm)
        return 0;
    err_set(err, "'%s' started no JVM", argv[0]);
    return err_next(err, "give a command that starts java, or java itself");
}

/* Looking is over, or has failed. */
void jit_look_end_command(struct jit_look *l)
{
    if (l->command != 0 && !launch_wait(l->command, l->has_ended ? ENDED_MS : ENDING_MS, &l->status)) {
        fprintf(stderr, "mmprof: the command goes on as process %d: waiting for its end\n", (int)l->command);
        launch_wait(l->command, LAUNCH_FOREVER, &l->status);
    }
    if (l->status != 0)
        fprintf(stderr, "mmprof: the command ended with status %d\n", l->status);
    launch_end(&l->launch);
}
