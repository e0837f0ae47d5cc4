/*
 * In a JVM: interrupts its threads, asks AsyncGetCallTrace for their stacks, and hands registers, a copy of the stack
 * and the answer to stack_check.c.
 *
 *     java -agentpath:.../stack_check_agent.so=FILE,HZ[,wait][,wall|,suspend] ...
 *
 * wait      a thread goes on only when its slot has been looked at: nothing that it could change has changed
 * wall      interrupts all threads in turn, those that wait, too; else those that use CPU time
 * suspend   interrupts nothing: suspends the Java threads in turn, asks GetStackTrace, and has registers and stack as
 *           /proc tells them of a thread that waits (core/recorder/wait_sampler.h)
 */
#include "test/tools/stack_check.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <jvmti.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

struct call_frame {
    jint index;
    jmethodID method;
};

struct call_trace {
    JNIEnv *env;
    jint n;
    struct call_frame *frames;
};

static struct {
    JavaVM *vm;
    jvmtiEnv *jvmti;
    void (*get_call_trace)(struct call_trace *, jint, void *);
    struct check_file *file;
    long hz, release;
    bool does_wait, is_wall, does_suspend;
    struct call_frame frames[CHECK_SLOTS][CHECK_FRAMES];
} self;

static void take_registers(struct check_slot *slot, const ucontext_t *context)
{
#ifdef __x86_64__
    slot->pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    slot->sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    slot->fp = (uint64_t)context->uc_mcontext.gregs[REG_RBP];
#else
    slot->pc = context->uc_mcontext.pc;
    slot->sp = context->uc_mcontext.sp;
    slot->fp = context->uc_mcontext.regs[29];
    slot->link = context->uc_mcontext.regs[30];
#endif
}

static void copy_stack(struct check_slot *slot)
{
    struct iovec here = { slot->stack, CHECK_STACK_BYTES };
    struct iovec there = { (void *)(uintptr_t)slot->sp, CHECK_STACK_BYTES };
    ssize_t n = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    slot->n_stack_bytes = n < 0 ? 0 : (uint64_t)n;
}

static struct check_slot *take_slot(uint32_t *i)
{
    static _Atomic uint32_t next;
    uint32_t is_free = SLOT_FREE;
    *i = atomic_fetch_add(&next, 1) % CHECK_SLOTS;
    struct check_slot *slot = &self.file->slots[*i];
    if (atomic_compare_exchange_strong(&slot->state, &is_free, SLOT_TAKEN))
        return slot;
    atomic_fetch_add(&self.file->n_dropped, 1);
    return NULL;
}

static void hand_out(struct check_slot *slot, bool does_wait)
{
    atomic_store(&slot->state, SLOT_FILLED);
    for (int left = 200; does_wait && left > 0 && atomic_load(&slot->state) == SLOT_FILLED; left--)
        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

static void fill(struct check_slot *slot, struct call_frame *frames, JNIEnv *env, ucontext_t *context)
{
    struct call_trace trace = { env, 0, frames };
    take_registers(slot, context);
    copy_stack(slot);
    self.get_call_trace(&trace, CHECK_FRAMES, context);
    slot->n_frames = trace.n;
    for (jint i = 0; i < trace.n; i++) {
        slot->frames[i].index = frames[i].index;
        slot->frames[i].method = frames[i].method == NULL ? 0 : *(const uint64_t *)frames[i].method;
    }
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    JNIEnv *env = NULL;
    (void)signal;
    (void)info;
    atomic_fetch_add(&self.file->n_signals, 1);
    if ((*self.vm)->GetEnv(self.vm, (void **)&env, JNI_VERSION_1_6) != JNI_OK || env == NULL) {
        atomic_fetch_add(&self.file->n_no_env, 1);
        return;
    }
    uint32_t i;
    struct check_slot *slot = take_slot(&i);
    if (slot == NULL)
        return;
    fill(slot, self.frames[i], env, context);
    hand_out(slot, self.does_wait);
}

/* AsyncGetCallTrace knows methods that have a jmethodID. */
static void make_ids(jvmtiEnv *jvmti, jclass class)
{
    jint n;
    jmethodID *methods;
    if ((*jvmti)->GetClassMethods(jvmti, class, &n, &methods) == JVMTI_ERROR_NONE)
        (*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
}

static void JNICALL on_class_load(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class)
{
    (void)jvmti;
    (void)env;
    (void)thread;
    (void)class;
}

static void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class)
{
    (void)env;
    (void)thread;
    make_ids(jvmti, class);
}

static void *interrupt_all(void *unused)
{
    pid_t me = (pid_t)syscall(SYS_gettid);
    (void)unused;
    for (;;) {
        DIR *tasks = opendir("/proc/self/task");
        for (struct dirent *entry; tasks != NULL && (entry = readdir(tasks)) != NULL;) {
            pid_t tid = (pid_t)atoi(entry->d_name);
            if (tid <= 0 || tid == me)
                continue;
            syscall(SYS_tgkill, getpid(), tid, SIGPROF);
            nanosleep(&(struct timespec){ .tv_nsec = 1000000000 / self.hz }, NULL);
        }
        if (tasks != NULL)
            closedir(tasks);
    }
    return NULL;
}

/* ---- threads that are suspended ---- */

/* Where in user space a thread waits; false: it does not. */
static bool read_wait(struct check_slot *slot, pid_t tid)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", (int)tid);
    FILE *file = fopen(path, "r");
    bool is_read = file != NULL && fgets(text, sizeof text, file) != NULL;
    if (file != NULL)
        fclose(file);
    /* "NUMBER ARGUMENT... SP PC", or "-1 SP PC", or "running" */
    char *pc = is_read ? strrchr(text, ' ') : NULL, *sp = pc;
    while (sp != NULL && sp > text && (sp == pc || *sp != ' '))
        sp--;
    if (sp == NULL || sp == text)
        return false;
    slot->pc = strtoull(pc, NULL, 16);
    slot->sp = strtoull(sp, NULL, 16);
    slot->fp = slot->link = 0;
    return slot->pc != 0;
}

/* It has been told to stop, and answers GetStackTrace before it does. */
static bool await_wait(struct check_slot *slot, pid_t tid)
{
    for (int left = 20; left > 0; left--) {
        nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
        if (read_wait(slot, tid))
            return true;
    }
    return false;
}

#define IDS_SAY_NOTHING 26 /* from this JDK on they are numbers */

static uint32_t name_of(jvmtiEnv *jvmti, jmethodID method)
{
    char *name = NULL, *descriptor = NULL, *signature = NULL;
    jclass class;
    JNIEnv *env;
    uint32_t hash = 0;
    (*self.vm)->GetEnv(self.vm, (void **)&env, JNI_VERSION_1_6);
    if ((*jvmti)->GetMethodName(jvmti, method, &name, &descriptor, NULL) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetMethodDeclaringClass(jvmti, method, &class) == JVMTI_ERROR_NONE) {
        (*jvmti)->GetClassSignature(jvmti, class, &signature, NULL);
        (*env)->DeleteLocalRef(env, class);
    }
    if (signature != NULL && signature[0] == 'L')
        hash = check_name(check_name(check_name(CHECK_NAME, signature + 1, strlen(signature) - 2), name, strlen(name)),
                          descriptor, strlen(descriptor));
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)descriptor);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    return hash;
}

static struct check_frame frame_of(jvmtiEnv *jvmti, const jvmtiFrameInfo *info)
{
    struct check_frame frame = { .index = info->location < 0 ? -3 : (int32_t)info->location };
    if (self.release >= IDS_SAY_NOTHING)
        frame.name = name_of(jvmti, info->method);
    else
        frame.method = *(const uint64_t *)info->method;
    return frame;
}

static void look_at(jvmtiEnv *jvmti, jthread thread, pid_t tid)
{
    static jvmtiFrameInfo frames[CHECK_FRAMES];
    uint32_t i;
    jint n = 0;
    struct check_slot *slot = take_slot(&i);
    if (slot == NULL)
        return;
    bool is_it = (*jvmti)->SuspendThread(jvmti, thread) == JVMTI_ERROR_NONE;
    if (is_it && (*jvmti)->GetStackTrace(jvmti, thread, 0, CHECK_FRAMES, frames, &n) == JVMTI_ERROR_NONE &&
        await_wait(slot, tid)) {
        copy_stack(slot);
        slot->n_frames = n;
        for (jint j = 0; j < n; j++)
            slot->frames[j] = frame_of(jvmti, &frames[j]);
        hand_out(slot, true);
    } else {
        atomic_store(&slot->state, SLOT_FREE);
    }
    if (is_it)
        (*jvmti)->ResumeThread(jvmti, thread);
}

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)env;
    (*jvmti)->SetThreadLocalStorage(jvmti, thread, (void *)(intptr_t)syscall(SYS_gettid));
}

static void *suspend_all(void *unused)
{
    JNIEnv *env;
    pid_t me = (pid_t)syscall(SYS_gettid);
    (void)unused;
    (*self.vm)->AttachCurrentThreadAsDaemon(self.vm, (void **)&env, NULL);
    for (;;) {
        jint n = 0;
        jthread *threads = NULL;
        (*env)->PushLocalFrame(env, 1024);
        (*self.jvmti)->GetAllThreads(self.jvmti, &n, &threads);
        for (jint i = 0; i < n; i++) {
            void *tid = NULL;
            (*self.jvmti)->GetThreadLocalStorage(self.jvmti, threads[i], &tid);
            if (tid != NULL && (pid_t)(intptr_t)tid != me)
                look_at(self.jvmti, threads[i], (pid_t)(intptr_t)tid);
            nanosleep(&(struct timespec){ .tv_nsec = 1000000000 / self.hz }, NULL);
        }
        (*self.jvmti)->Deallocate(self.jvmti, (unsigned char *)threads);
        (*env)->PopLocalFrame(env, NULL);
    }
    return NULL;
}

static void JNICALL on_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    jint n;
    jclass *classes;
    pthread_t interrupter;
    if ((*jvmti)->GetLoadedClasses(jvmti, &n, &classes) == JVMTI_ERROR_NONE)
        for (jint i = 0; i < n; i++)
            make_ids(jvmti, classes[i]);
    if (self.does_suspend) {
        on_thread_start(jvmti, env, thread); /* the main one */
        pthread_create(&interrupter, NULL, suspend_all, NULL);
        return;
    }
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
    sigaction(SIGPROF, &action, NULL);
    const struct timeval period = { .tv_usec = 1000000 / self.hz };
    if (self.is_wall)
        pthread_create(&interrupter, NULL, interrupt_all, NULL);
    else
        setitimer(ITIMER_PROF, &(struct itimerval){ period, period }, NULL);
}

static bool open_file(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *self.file) < 0)
        return false;
    self.file = mmap(NULL, sizeof *self.file, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return self.file != MAP_FAILED;
}

/* "FILE,HZ,wait,wall,suspend" */
static bool read_options(char *options)
{
    char *rest = options, *file = strsep(&rest, ","), *hz = strsep(&rest, ",");
    self.hz = hz == NULL ? 0 : atol(hz);
    for (const char *word; (word = strsep(&rest, ",")) != NULL;) {
        self.does_wait |= strcmp(word, "wait") == 0;
        self.is_wall |= strcmp(word, "wall") == 0;
        self.does_suspend |= strcmp(word, "suspend") == 0;
    }
    return file != NULL && self.hz > 0 && open_file(file);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    char copy[4096] = "";
    (void)reserved;
    snprintf(copy, sizeof copy, "%s", options == NULL ? "" : options);
    self.vm = vm;
    *(void **)&self.get_call_trace = dlsym(RTLD_DEFAULT, "AsyncGetCallTrace");
    jint version = 0;
    if (!read_options(copy) || (*vm)->GetEnv(vm, (void **)&self.jvmti, JVMTI_VERSION_1_2) != JNI_OK)
        return JNI_ERR;
    (*self.jvmti)->GetVersionNumber(self.jvmti, &version);
    self.release = (version & JVMTI_VERSION_MASK_MAJOR) >> JVMTI_VERSION_SHIFT_MAJOR;
    if (!self.does_suspend && (self.get_call_trace == NULL || self.release >= IDS_SAY_NOTHING))
        return JNI_ERR;
    const jvmtiEventCallbacks callbacks = {
        .VMInit = on_init, .ClassLoad = on_class_load, .ClassPrepare = on_class_prepare, .ThreadStart = on_thread_start
    };
    const jvmtiCapabilities may_suspend = { .can_suspend = 1 };
    if (self.does_suspend) {
        (*self.jvmti)->AddCapabilities(self.jvmti, &may_suspend);
        (*self.jvmti)->SetEventNotificationMode(self.jvmti, JVMTI_ENABLE, JVMTI_EVENT_THREAD_START, NULL);
    }
    (*self.jvmti)->SetEventCallbacks(self.jvmti, &callbacks, sizeof callbacks);
    (*self.jvmti)->SetEventNotificationMode(self.jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
    (*self.jvmti)->SetEventNotificationMode(self.jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_LOAD, NULL);
    (*self.jvmti)->SetEventNotificationMode(self.jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_PREPARE, NULL);
    return JNI_OK;
}
