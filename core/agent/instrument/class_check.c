#include "core/agent/instrument/class_check.h"

#include "core/agent/codecache/own_vm.h"
#include "core/agent/instrument/instrument_state.h"
#include "core/hotspot/vm.h"

#include <link.h>
#include <pthread.h>

static struct class_checks *const checks = &instrumenting.checks;

/* JDK 24 and later; AOTCacheOutput alone (JDK 25) sets the mode, too. */
static bool records_cache(void)
{
    char mode[16], path[512];
    if (!vm_flag_text(own_vm(), "AOTMode", mode, sizeof mode) || strcmp(mode, "record") != 0)
        return false;
    if (vm_flag_text(own_vm(), "AOTCacheOutput", path, sizeof path))
        snprintf(checks->archive_option, sizeof checks->archive_option, "-XX:AOTCacheOutput=%.200s", path);
    else
        snprintf(checks->archive_option, sizeof checks->archive_option, "-XX:AOTMode=record");
    return true;
}

static void find_archive(void)
{
    char path[512];
    if (records_cache())
        return;
    /* -XX:+AutoCreateSharedArchive (JDK 19 and later) sets it, where there is no valid archive yet. */
    if (vm_flag_text(own_vm(), "ArchiveClassesAtExit", path, sizeof path))
        snprintf(checks->archive_option, sizeof checks->archive_option, "-XX:ArchiveClassesAtExit=%.200s", path);
    else if (vm_flag_is_asked_for(own_vm(), "RecordDynamicDumpInfo")) /* for 'jcmd VM.cds dynamic_dump' */
        snprintf(checks->archive_option, sizeof checks->archive_option, "-XX:+RecordDynamicDumpInfo");
}

const char *class_archive_option(void)
{
    pthread_once(&checks->archive_once, find_archive);
    return checks->archive_option[0] == '\0' ? NULL : checks->archive_option;
}

/* ---- breakpoints ---- */

/*
 * HotSpot removes the breakpoints of a class that is changed (VM_RedefineClasses::redefine_single_class, JDK 8 to 28),
 * and does not tell the debugger, which still lists them.  JVMTI tells no agent of the breakpoints of another one, but
 * the class itself has them in a list.
 */

#define TRIES      3 /* a collector may move a class' mirror while it is read */
#define NAME_BYTES 1024

static void find_fields(void)
{
    uint64_t mirror_klass;
    struct vm_field fields[] = { { "InstanceKlass", "_breakpoints", &checks->at.breakpoints, false },
                                 { "java_lang_Class", "_klass_offset", &mirror_klass, true } };
    class_layout_find(own_vm(), &checks->at.classes);
    checks->at.is_known = vm_fields_find(own_vm(), fields, sizeof fields / sizeof *fields) &&
                          checks->at.classes.name != VM_NONE && checks->at.classes.symbol_body != VM_NONE &&
                          vm_read(own_vm(), mirror_klass, &checks->at.mirror_klass, sizeof checks->at.mirror_klass) &&
                          checks->at.mirror_klass != 0;
}

/* The class, which has this name; false: it cannot be read. */
static bool read_class(jclass class_ref, struct wire_text name, uint64_t *klass)
{
    char text[NAME_BYTES];
    uint64_t mirror;
    for (int i = 0; i < TRIES; i++)
        if (vm_read_u64(own_vm(), (uint64_t)(uintptr_t)class_ref, &mirror) &&
            vm_read_u64(own_vm(), mirror + checks->at.mirror_klass, klass) &&
            class_name_text(own_vm(), &checks->at.classes, *klass, text, sizeof text) == name.n &&
            memcmp(text, name.at, name.n < sizeof text ? name.n : sizeof text - 1) == 0)
            return true;
    return false;
}

static int is_debugger(struct dl_phdr_info *library, size_t n, void *context)
{
    (void)n, (void)context;
    const char *base = strrchr(library->dlpi_name, '/');
    return base != NULL && strcmp(base, "/libjdwp.so") == 0;
}

bool breakpoints_are_in(jclass class_ref, struct wire_text name)
{
    uint64_t klass, first;
    pthread_once(&checks->fields_once, find_fields);
    if (checks->at.is_known && read_class(class_ref, name, &klass) &&
        vm_read_u64(own_vm(), klass + checks->at.breakpoints, &first))
        return first != 0;
    return dl_iterate_phdr(is_debugger, NULL) != 0;
}

/* ---- JFR's events ---- */

#define DEPTH_MAX 16 /* classes above: events have two to four */

bool event_class_is_base(const char *name, size_t n)
{
    static const char *const bases[] = { "jdk/internal/event/Event", "jdk/jfr/Event" };
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        if (strlen(bases[i]) == n && memcmp(name, bases[i], n) == 0)
            return true;
    return false;
}

/* Of the form "Ljdk/jfr/Event;". */
static bool has_base_name(jvmtiEnv *jvmti, jclass class_ref)
{
    char *signature = NULL;
    bool is = (*jvmti)->GetClassSignature(jvmti, class_ref, &signature, NULL) == JVMTI_ERROR_NONE &&
              strlen(signature) > 2 && event_class_is_base(signature + 1, strlen(signature) - 2);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    return is;
}

bool event_class_is(jvmtiEnv *jvmti, JNIEnv *jni, jclass class_ref)
{
    bool is = has_base_name(jvmti, class_ref);
    jclass at = class_ref;
    for (int depth = 0; !is && at != NULL && depth < DEPTH_MAX; depth++) {
        jclass above = (*jni)->GetSuperclass(jni, at);
        if (at != class_ref)
            (*jni)->DeleteLocalRef(jni, at);
        at = above;
        is = at != NULL && has_base_name(jvmti, at);
    }
    if (at != NULL && at != class_ref)
        (*jni)->DeleteLocalRef(jni, at);
    return is;
}

/* ---- what the JVM retains ---- */

/*
 * What the JVM would retain for ever of a class that is changed.
 *
 * HotSpot keeps the version of a class before for as long as compiled code of it is there.  Since JDK 20 it never
 * discards the compiled entry of a native method: where one was compiled (Object.hashCode, Unsafe.park), all of the
 * class stays, at each change: 1.1 MB a session on JDK 25, until a JVM with -XX:MaxMetaspaceSize=64m died after some
 * fifty.  So classes with several native methods are left alone, unless the user names them, and of what is retained of
 * the others there is a limit.
 *
 * All old versions take metaspace until the second garbage collection after, which may be long; where it is limited,
 * the JVM would be out of it for classes of the program's own (seen after sixty sessions).
 */

#define FIRST_JAVA  20 /* that keeps them */
#define FEW_NATIVES 1  /* String and Throwable have one each, which most programs call rarely */
#define BYTES_A_METHOD \
    450u /* of metaspace, code, constants and line numbers included: measured on JDK 25's own classes */
#define LIMIT_BYTES ((uint64_t)8 << 20)
#define ACC_NATIVE  0x0100

static int java_of(jvmtiEnv *jvmti)
{
    char *text = NULL;
    int java = 0;
    if ((*jvmti)->GetSystemProperty(jvmti, "java.vm.specification.version", &text) == JVMTI_ERROR_NONE)
        java = atoi(text);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)text);
    return java;
}

/* Returns how many methods a class has; *n_natives of them are native. */
static jint count_methods(jvmtiEnv *jvmti, jclass class_ref, jint *n_natives)
{
    jmethodID *methods = NULL;
    jint n = 0, modifiers;
    *n_natives = 0;
    if ((*jvmti)->GetClassMethods(jvmti, class_ref, &n, &methods) != JVMTI_ERROR_NONE)
        return 0;
    for (jint i = 0; i < n; i++)
        *n_natives += (*jvmti)->GetMethodModifiers(jvmti, methods[i], &modifiers) == JVMTI_ERROR_NONE &&
                      (modifiers & ACC_NATIVE) != 0;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
    return n;
}

void retained_begin(uint64_t metaspace_bytes)
{
    checks->metaspace_bytes = metaspace_bytes;
}

enum segment_count retained_refusal(jvmtiEnv *jvmti, jclass class_ref, bool is_named)
{
    jint n_natives;
    if (checks->java == 0)
        checks->java = java_of(jvmti);
    if (checks->java < FIRST_JAVA && checks->metaspace_bytes == UINT64_MAX)
        return SEGMENT_N_COUNTS;
    /* Two versions: the one before the probes, and the one with them. */
    uint64_t bytes = (uint64_t)count_methods(jvmti, class_ref, &n_natives) * BYTES_A_METHOD * 2;
    bool is_retained = n_natives > 0 && checks->java >= FIRST_JAVA;
    bool may_be_retained = (is_named || n_natives <= FEW_NATIVES) && checks->retained_bytes + bytes <= LIMIT_BYTES;
    if (is_retained && !may_be_retained)
        return SEGMENT_LEFT_NATIVES;
    if (bytes > checks->metaspace_bytes)
        return SEGMENT_LEFT_METASPACE;
    checks->retained_bytes += is_retained ? bytes : 0;
    checks->metaspace_bytes -= checks->metaspace_bytes == UINT64_MAX ? 0 : bytes;
    return SEGMENT_N_COUNTS;
}
