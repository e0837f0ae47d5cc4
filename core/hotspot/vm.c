#include "core/hotspot/vm_state.h"

#include <sys/uio.h>

#define SOME_MAX (8 * VM_PAGE_BYTES)

/* ---- opening ---- */

void vm_init(struct vm *vm, const struct vm_library *library)
{
    pthread_mutexattr_t kind;
    vm->library = *library;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&vm->lock, &kind);
    pthread_mutexattr_destroy(&kind);
}

void vm_close(struct vm *vm)
{
    if (vm == NULL)
        return;
    if (vm->close != NULL)
        vm->close(vm->library.context);
    for (size_t i = 0; i < VM_EXPORTS; i++)
        hash_free(&vm->exported[i].entries);
    for (size_t i = 0; i < CODE_HEAPS_MAX; i++)
        free(vm->heaps.heaps[i].copy);
    hash_free(&vm->flags.by_name);
    for (size_t i = 0; i < VM_PAGES; i++)
        free(vm->pages.bytes[i]);
    free(vm->recent.bytes);
    pthread_mutex_destroy(&vm->lock);
    free(vm);
}

pid_t vm_pid(const struct vm *vm)
{
    return vm->library.pid != 0 ? vm->library.pid : getpid();
}

void vm_once(struct vm *vm, struct vm_once *once, void (*know)(struct vm *vm))
{
    if (atomic_load(&once->is_done))
        return;
    pthread_mutex_lock(&vm->lock);
    if (!atomic_load(&once->is_done)) {
        know(vm);
        atomic_store(&once->is_done, true);
    }
    pthread_mutex_unlock(&vm->lock);
}

/* ---- reading ---- */

/* Some pieces, one behind the other, up to the first that is not there.  Returns how many bytes they are, or -1. */
static ssize_t read_all(struct vm *vm, const struct iovec *there, size_t n, void *bytes, size_t n_bytes)
{
    struct iovec here = { bytes, n_bytes };
    size_t done = 0;
    if (vm->library.read == NULL)
        return process_vm_readv(vm_pid(vm), &here, 1, there, n, 0);
    for (size_t i = 0; i < n && vm->library.read((uintptr_t)there[i].iov_base, (char *)bytes + done, there[i].iov_len);
         i++)
        done += there[i].iov_len;
    return (ssize_t)done;
}

void vm_read_in_place(struct vm *vm, size_t which, uint64_t low, uint64_t high)
{
    if (vm->library.pid != 0)
        return;
    atomic_store(&vm->in_place[which].low, UINT64_MAX); /* nothing, until both are there: readers take the end first */
    atomic_store(&vm->in_place[which].high, high);
    atomic_store(&vm->in_place[which].low, low);
}

static bool is_in_place(struct vm *vm, uint64_t address, size_t n)
{
    for (size_t i = 0; i < VM_RANGES; i++) {
        uint64_t high = atomic_load(&vm->in_place[i].high), low = atomic_load(&vm->in_place[i].low);
        if (address >= low && address < high && n <= high - address)
            return true;
    }
    return false;
}

/* Returns false, with nothing read, where one of them is to be asked of the kernel. */
static bool read_in_place(struct vm *vm, const struct vm_piece *pieces, size_t n_pieces, char *bytes)
{
    for (size_t i = 0; i < n_pieces; i++)
        if (!is_in_place(vm, pieces[i].address, pieces[i].n_bytes))
            return false;
    for (size_t i = 0; i < n_pieces; bytes += pieces[i++].n_bytes)
        memcpy(bytes, (const void *)(uintptr_t)pieces[i].address, pieces[i].n_bytes);
    return true;
}

bool vm_read(struct vm *vm, uint64_t address, void *bytes, size_t n)
{
    return vm_read_pieces(vm, &(struct vm_piece){ address, n }, 1, bytes);
}

/* The kernel leaves a piece out of which something is missing: pieces end where pages may. */
size_t vm_read_some(struct vm *vm, uint64_t address, void *bytes, size_t n)
{
    struct iovec there[SOME_MAX / VM_PAGE_BYTES + 1];
    size_t n_pieces = 0;
    if (read_in_place(vm, &(struct vm_piece){ address, n }, 1, bytes))
        return n;
    for (size_t done = 0; done < n && n_pieces < sizeof there / sizeof *there;) {
        size_t left = VM_PAGE_BYTES - (address + done) % VM_PAGE_BYTES, piece = left < n - done ? left : n - done;
        there[n_pieces++] = (struct iovec){ (void *)(uintptr_t)(address + done), piece };
        done += piece;
    }
    ssize_t got = read_all(vm, there, n_pieces, bytes, n);
    return got < 0 ? 0 : (size_t)got;
}

bool vm_read_u64(struct vm *vm, uint64_t address, uint64_t *value)
{
    return vm_read(vm, address, value, sizeof *value);
}

void vm_remember(struct vm *vm, bool is_on)
{
    if (is_on && vm->recent.bytes == NULL && vm->library.pid != 0)
        vm->recent.bytes = malloc(VM_RECENT_PAGES * sizeof *vm->recent.bytes);
    if (!is_on) {
        free(vm->recent.bytes);
        vm->recent.bytes = NULL;
    }
    memset(vm->recent.starts, 0, sizeof vm->recent.starts);
}

/* NULL: it is not there. */
static const uint8_t *recent_page(struct vm *vm, uint64_t start)
{
    size_t at = start / VM_PAGE_BYTES % VM_RECENT_PAGES;
    struct iovec there = { (void *)(uintptr_t)start, VM_PAGE_BYTES };
    if (vm->recent.starts[at] == start + 1)
        return vm->recent.bytes[at];
    vm->recent.starts[at] = 0;
    if (read_all(vm, &there, 1, vm->recent.bytes[at], VM_PAGE_BYTES) != VM_PAGE_BYTES)
        return NULL;
    vm->recent.starts[at] = start + 1;
    return vm->recent.bytes[at];
}

/* Returns false, perhaps with some of it read, where it is to be asked of the kernel. */
static bool read_recent(struct vm *vm, const struct vm_piece *pieces, size_t n_pieces, uint8_t *bytes)
{
    for (size_t i = 0; i < n_pieces; i++)
        for (uint64_t at = pieces[i].address, left = pieces[i].n_bytes, n; left > 0; at += n, left -= n, bytes += n) {
            const uint8_t *page = recent_page(vm, at - at % VM_PAGE_BYTES);
            n = VM_PAGE_BYTES - at % VM_PAGE_BYTES;
            n = n < left ? n : left;
            if (page == NULL)
                return false;
            memcpy(bytes, page + at % VM_PAGE_BYTES, n);
        }
    return true;
}

bool vm_read_pieces(struct vm *vm, const struct vm_piece *pieces, size_t n_pieces, void *bytes)
{
    struct iovec there[VM_PIECES_MAX];
    size_t n_bytes = 0;
    if (n_pieces > VM_PIECES_MAX)
        return false;
    if (read_in_place(vm, pieces, n_pieces, bytes) ||
        (vm->recent.bytes != NULL && read_recent(vm, pieces, n_pieces, bytes)))
        return true;
    for (size_t i = 0; i < n_pieces; i++) {
        there[i] = (struct iovec){ (void *)(uintptr_t)pieces[i].address, pieces[i].n_bytes };
        n_bytes += pieces[i].n_bytes;
    }
    return read_all(vm, there, n_pieces, bytes, n_bytes) == (ssize_t)n_bytes;
}

#define PIECES_AT_ONCE 128u

/* One that is not there ends a call: it is left out of the next one.  Returns how many bytes they are. */
static size_t read_at_once(struct vm *vm, const struct vm_piece *pieces, size_t n, char *bytes)
{
    struct iovec there[PIECES_AT_ONCE];
    size_t n_bytes = 0, done = 0;
    for (size_t i = 0; i < n; i++) {
        there[i] = (struct iovec){ (void *)(uintptr_t)pieces[i].address, pieces[i].n_bytes };
        n_bytes += pieces[i].n_bytes;
    }
    if (read_in_place(vm, pieces, n, bytes) ||
        (vm->recent.bytes != NULL && read_recent(vm, pieces, n, (uint8_t *)bytes)))
        return n_bytes;
    for (size_t i = 0; i < n; i++) {
        ssize_t got = read_all(vm, there + i, n - i, bytes + done, n_bytes - done);
        for (size_t end = done + (got < 0 ? 0 : (size_t)got); i < n && pieces[i].n_bytes <= end - done; i++)
            done += pieces[i].n_bytes;
        if (i == n)
            break;
        memset(bytes + done, 0, pieces[i].n_bytes);
        done += pieces[i].n_bytes;
    }
    return n_bytes;
}

void vm_read_each(struct vm *vm, const struct vm_piece *pieces, size_t n_pieces, void *bytes)
{
    char *to = bytes;
    for (size_t i = 0; i < n_pieces; i += PIECES_AT_ONCE)
        to += read_at_once(vm, pieces + i, n_pieces - i < PIECES_AT_ONCE ? n_pieces - i : PIECES_AT_ONCE, to);
}

void vm_read_words(struct vm *vm, const uint64_t *addresses, size_t n, uint64_t *words)
{
    struct vm_piece pieces[PIECES_AT_ONCE];
    for (size_t i = 0; i < n; i += PIECES_AT_ONCE) {
        size_t now = n - i < PIECES_AT_ONCE ? n - i : PIECES_AT_ONCE;
        for (size_t k = 0; k < now; k++)
            pieces[k] = (struct vm_piece){ addresses[i + k], sizeof *words };
        read_at_once(vm, pieces, now, (char *)(words + i));
    }
}

bool vm_read_text(struct vm *vm, uint64_t address, char *text, size_t n)
{
    uint64_t start;
    text[0] = '\0';
    if (!vm_read_u64(vm, address, &start) || start == 0)
        return false;
    size_t got = vm_read_some(vm, start, text, n);
    bool is_whole = memchr(text, '\0', got) != NULL;
    text[got < n ? got : n - 1] = '\0';
    return is_whole;
}
