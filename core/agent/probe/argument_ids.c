#include "core/agent/probe/argument_ids.h"

#include "core/base/hash.h"
#include "core/wire/ring.h"

#include <pthread.h>
#include <stdatomic.h>

#define SLOTS          4096u /* of a method's table, a power of two */
#define ENTRY_BYTES    (VALUE_BYTES + 64)
#define ACCESSOR_BYTES 256

_Static_assert(ARGUMENT_VALUES_MAX + VALUE_KINDS <= ARGUMENT_IDS && SLOTS > 2 * ARGUMENT_VALUES_MAX,
               "there is room for all values");

/* Filled before its slot says where it is, and not changed in a session. */
struct value_entry {
    uint64_t hash;
    uint32_t n;
    char text[VALUE_BYTES];
};

/* The values of a method so far. */
struct value_table {
    _Atomic uint32_t slots[SLOTS]; /* by hash: 1 more than the entry; 0: free */
    _Atomic uint32_t told;         /* a bit for each kind without a text that the recorder knows */
    uint32_t n;
    struct value_entry entries[ARGUMENT_VALUES_MAX];
};

struct value_method {
    uint32_t method, first_id;
    char type;
    char accessor[ACCESSOR_BYTES]; /* "": none */
    struct value_table *table;     /* kept for ever: a thread may look into it after the session */
};

static struct {
    pthread_mutex_t lock;   /* guards what is added */
    _Atomic uint32_t epoch; /* as in tokens; 0: no session */
    int methods_fd;
    struct value_method methods[ARGUMENT_METHODS_MAX];
    _Atomic uint32_t n_methods;
} values = { .lock = PTHREAD_MUTEX_INITIALIZER };

static _Thread_local bool is_asking; /* the accessor may call the method itself */

int argument_ids_begin(jvmtiEnv *jvmti, JNIEnv *jni, uint32_t epoch, int methods_fd, struct err *err)
{
    if (value_text_prepare(jvmti, jni, err) < 0)
        return -1;
    pthread_mutex_lock(&values.lock);
    values.methods_fd = methods_fd;
    atomic_store(&values.n_methods, 0);
    atomic_store(&values.epoch, epoch & AGENT_EPOCH_MAX);
    pthread_mutex_unlock(&values.lock);
    return 0;
}

void argument_ids_end(void)
{
    pthread_mutex_lock(&values.lock);
    atomic_store(&values.epoch, 0);
    atomic_store(&values.n_methods, 0);
    pthread_mutex_unlock(&values.lock);
}

static void clear(struct value_table *table)
{
    for (uint32_t i = 0; i < SLOTS; i++)
        atomic_store_explicit(&table->slots[i], 0, memory_order_relaxed);
    atomic_store(&table->told, 0);
    table->n = 0;
}

bool argument_ids_add(uint32_t method, uint32_t first_id, char type, const char *accessor)
{
    pthread_mutex_lock(&values.lock);
    uint32_t n = atomic_load(&values.n_methods);
    struct value_method *added = n < ARGUMENT_METHODS_MAX ? &values.methods[n] : NULL;
    if (added != NULL && added->table == NULL)
        added->table = calloc(1, sizeof *added->table);
    bool has_room = atomic_load(&values.epoch) != 0 && added != NULL && added->table != NULL;
    if (has_room) {
        clear(added->table);
        *added = (struct value_method){ method, first_id, type, "", added->table };
        snprintf(added->accessor, sizeof added->accessor, "%s", accessor == NULL ? "" : accessor);
        atomic_store_explicit(&values.n_methods, n + 1, memory_order_release);
    }
    pthread_mutex_unlock(&values.lock);
    return has_room;
}

/* The method's, or NULL: its calls are not told apart. */
static const struct value_method *find_method(uint32_t method)
{
    uint32_t n = atomic_load_explicit(&values.n_methods, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (values.methods[i].method == method)
            return &values.methods[i];
    return NULL;
}

bool argument_ids_has(uint32_t method)
{
    return find_method(method) != NULL;
}

uint32_t argument_ids_method(uint32_t id)
{
    uint32_t n = atomic_load_explicit(&values.n_methods, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (id - values.methods[i].first_id < ARGUMENT_IDS)
            return values.methods[i].method;
    return id;
}

/* ---- the id of a value ---- */

/* Tell the recorder, before any record has it. */
static bool tell(const struct value_method *of, uint32_t id, const struct value_text *value)
{
    uint8_t bytes[ENTRY_BYTES];
    struct sink s = sink_into(bytes, sizeof bytes);
    const struct protocol_value entry = {
        id, of->method, value->kind, { value->text, value->kind == VALUE_TEXT ? value->n : 0 }
    };
    protocol_put_value(&s, &entry);
    size_t n = (size_t)(s.at - bytes);
    return !s.full && write(values.methods_fd, bytes, n) == (ssize_t)n;
}

/* Of a kind that has no text: there is one of each.  Returns 0: the recorder could not be told. */
static uint32_t id_of_kind(const struct value_method *of, uint32_t epoch, enum value_kind kind)
{
    uint32_t id = of->first_id + ARGUMENT_VALUES_MAX + kind, bit = 1u << kind;
    if ((atomic_load_explicit(&of->table->told, memory_order_acquire) & bit) != 0)
        return id;
    pthread_mutex_lock(&values.lock);
    bool is_told = (atomic_load(&of->table->told) & bit) != 0;
    if (!is_told && atomic_load(&values.epoch) == epoch)
        is_told = tell(of, id, &(struct value_text){ .kind = kind });
    if (is_told)
        atomic_fetch_or_explicit(&of->table->told, bit, memory_order_release);
    pthread_mutex_unlock(&values.lock);
    return is_told ? id : 0;
}

/* The slot of a text: it is there, or free. */
static uint32_t find_slot(const struct value_table *table, uint64_t hash, const struct value_text *value)
{
    uint32_t at = (uint32_t)hash % SLOTS;
    for (;; at = (at + 1) % SLOTS) {
        uint32_t number = atomic_load_explicit(&table->slots[at], memory_order_acquire);
        const struct value_entry *entry = number == 0 ? NULL : &table->entries[number - 1];
        if (entry == NULL ||
            (entry->hash == hash && entry->n == value->n && memcmp(entry->text, value->text, value->n) == 0))
            return at;
    }
}

/* Called with the lock.  Returns 1 more than the entry, or 0: there is no room. */
static uint32_t add_entry(const struct value_method *of, uint64_t hash, const struct value_text *value)
{
    struct value_table *table = of->table;
    uint32_t at = find_slot(table, hash, value), number = atomic_load(&table->slots[at]);
    if (number != 0 || table->n == ARGUMENT_VALUES_MAX || !tell(of, of->first_id + table->n, value))
        return number;
    struct value_entry *entry = &table->entries[table->n++];
    entry->hash = hash;
    entry->n = (uint32_t)value->n;
    memcpy(entry->text, value->text, value->n);
    atomic_store_explicit(&table->slots[at], table->n, memory_order_release);
    return table->n;
}

static uint32_t id_of(const struct value_method *of, uint32_t epoch, const struct value_text *value)
{
    if (value->kind != VALUE_TEXT)
        return id_of_kind(of, epoch, value->kind);
    uint64_t hash = hash_text(HASH_START, value->text, value->n);
    uint32_t number = atomic_load_explicit(&of->table->slots[find_slot(of->table, hash, value)], memory_order_acquire);
    if (number == 0) {
        pthread_mutex_lock(&values.lock);
        number = atomic_load(&values.epoch) == epoch ? add_entry(of, hash, value) : 0;
        pthread_mutex_unlock(&values.lock);
    }
    return number != 0 ? of->first_id + number - 1 : id_of_kind(of, epoch, VALUE_OTHER);
}

/* ---- what the JVM calls ---- */

#define NATIVE            __attribute__((visibility("default"))) JNIEXPORT
#define SAME_AS(function) NATIVE __attribute__((alias(#function)))
NATIVE jint JNICALL Java_java_lang_MmprofProbe_object0(JNIEnv *jni, jclass probe, jint token, jobject argument);
NATIVE jint JNICALL Java_java_lang_MmprofProbe_integer0(JNIEnv *jni, jclass probe, jint token, jlong argument);
NATIVE jint JNICALL Java_java_lang_MmprofProbe_real0(JNIEnv *jni, jclass probe, jint token, jdouble argument);
SAME_AS(Java_java_lang_MmprofProbe_object0)
jint JNICALL Java_mmprof_Probe_object0(JNIEnv *j, jclass p, jint t, jobject a);
SAME_AS(Java_java_lang_MmprofProbe_integer0)
jint JNICALL Java_mmprof_Probe_integer0(JNIEnv *j, jclass p, jint t, jlong a);
SAME_AS(Java_java_lang_MmprofProbe_real0) jint JNICALL Java_mmprof_Probe_real0(JNIEnv *j, jclass p, jint t, jdouble a);

/* Whose calls a token's are, if they are to be told apart now; else NULL. */
static const struct value_method *method_of(jint token)
{
    uint32_t epoch = (uint32_t)token >> RING_METHOD_BITS;
    if (is_asking || epoch != atomic_load_explicit(&values.epoch, memory_order_acquire))
        return NULL;
    return find_method((uint32_t)token & RING_METHOD_MAX);
}

/* The token of a value's id; the method's own where that is 0. */
static jint token_of(const struct value_method *of, jint token, const struct value_text *value)
{
    uint32_t epoch = (uint32_t)token >> RING_METHOD_BITS, id = id_of(of, epoch, value);
    return id == 0 ? token : (jint)agent_token(epoch, id);
}

jint JNICALL Java_java_lang_MmprofProbe_object0(JNIEnv *jni, jclass probe, jint token, jobject argument)
{
    struct value_text value;
    const struct value_method *of = method_of(token);
    (void)probe;
    if (of == NULL)
        return token;
    is_asking = true;
    value_text_of_object(jni, argument, of->accessor[0] == '\0' ? NULL : of->accessor, &value);
    is_asking = false;
    return token_of(of, token, &value);
}

jint JNICALL Java_java_lang_MmprofProbe_integer0(JNIEnv *jni, jclass probe, jint token, jlong argument)
{
    struct value_text value;
    const struct value_method *of = method_of(token);
    (void)jni, (void)probe;
    if (of == NULL)
        return token;
    value_text_of_integer(argument, of->type, &value);
    return token_of(of, token, &value);
}

jint JNICALL Java_java_lang_MmprofProbe_real0(JNIEnv *jni, jclass probe, jint token, jdouble argument)
{
    struct value_text value;
    const struct value_method *of = method_of(token);
    (void)jni, (void)probe;
    if (of == NULL)
        return token;
    value_text_of_real(argument, &value);
    return token_of(of, token, &value);
}
