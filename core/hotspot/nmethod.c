/*
 * Where its parts are, JDK 8 to 22: list of methods, scopes and PcDescs one behind the other in the nmethod itself; JDK
 * 8 has offsets where later ones have addresses.  JDK 25 and later: the list of methods behind the relocations, in
 * memory of its own (_mutable_data), PcDescs and scopes in another one (_immutable_data).  JDK 23 and 24 do not export
 * where the list of methods is.
 */
#include "core/hotspot/nmethod.h"
#include "core/hotspot/vm_state.h"

#include <stdatomic.h>

#define HEADER_MAX 1024u
#define BYTES_MAX  ((uint64_t)64 << 20)

/* Are these in an nmethod, of which nothing else is read?  What is not known is nowhere. */
static bool are_known(const struct nmethod_layout *at, const uint64_t *offsets, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes / sizeof *offsets; i++)
        if (offsets[i] >= at->header_bytes)
            return false;
    return true;
}

static void find_fields(struct vm *vm)
{
    struct nmethod_layout *at = &vm->nmethods;
    struct vm_field fields[] = {
        { "CodeBlob", "_name", &at->name, false },
        { "CodeBlob", "_size", &at->n_bytes, false },
        { "nmethod", "_state", &at->state, false },
        { "nmethod", "_comp_level", &at->tier, false },
        { "nmethod", "_compile_id", &at->number, false },
        { "nmethod", "_scopes_pcs_offset", &at->pcs, false },
        { "PcDesc", "_pc_offset", &at->pc_at, false },
        { "PcDesc", "_scope_decode_offset", &at->pc_scope, false },
        { "CompiledMethod", "_method", &at->together.method, false },
        { "CodeBlob", "_code_begin", &at->together.code_start, false },
        { "CodeBlob", "_code_end", &at->together.code_end, false },
        { "CompiledMethod", "_scopes_data_begin", &at->together.scopes, false },
        { "nmethod", "_metadata_offset", &at->together.methods, false },
        { "nmethod", "_dependencies_offset", &at->together.dependencies, false },
        { "nmethod", "_method", &at->apart.method, false },
        { "CodeBlob", "_code_offset", &at->apart.code_offset, false },
        { "CodeBlob", "_data_offset", &at->apart.data_offset, false },
        { "CodeBlob", "_relocation_size", &at->apart.relocation_bytes, false },
        { "CodeBlob", "_mutable_data", &at->apart.mutable_at, false },
        { "CodeBlob", "_mutable_data_size", &at->apart.mutable_bytes, false },
        { "nmethod", "_immutable_data", &at->apart.fixed, false },
        { "nmethod", "_immutable_data_size", &at->apart.fixed_bytes, false },
        { "nmethod", "_scopes_data_offset", &at->apart.scopes, false },
    };
    struct vm_field entry = { "nmethod", "_entry_bci", &at->entry, false };
    vm_fields_find(vm, fields, sizeof fields / sizeof *fields);
    vm_fields_find(vm, &entry, 1);
    at->header_bytes = vm_type_bytes(vm, "nmethod");
    at->pc_bytes = vm_type_bytes(vm, "PcDesc");
}

static void know(struct vm *vm)
{
    struct nmethod_layout *at = &vm->nmethods;
    find_fields(vm);
    const uint64_t of_all[] = { at->name, at->n_bytes, at->state, at->tier, at->number, at->pcs };
    at->is_apart = are_known(at, (const uint64_t *)&at->apart, sizeof at->apart);
    at->is_former = !at->is_apart && are_known(at, &at->apart.method, 4 * sizeof at->apart.method) &&
                    are_known(at, &at->together.methods, 2 * sizeof at->together.methods);
    if (!are_known(at, of_all, sizeof of_all) || at->pc_bytes > 64 || at->pc_at + 4 > at->pc_bytes ||
        at->pc_scope + 4 > at->pc_bytes || at->header_bytes > HEADER_MAX || at->header_bytes < 64)
        at->why_not = "the layout of compiled code is not known, or cannot be read";
    else if (!at->is_apart && !at->is_former && !are_known(at, (const uint64_t *)&at->together, sizeof at->together))
        at->why_not = "it is not known where compiled code has its list of methods";
}

const char *nmethod_why_not(struct vm *vm)
{
    vm_once(vm, &vm->nmethods.once, know);
    return vm->nmethods.why_not;
}

/* ---- the header ---- */

struct header {
    uint8_t bytes[HEADER_MAX];
};

static uint64_t field(const struct header *header, uint64_t offset, size_t n)
{
    return vm_number(header->bytes, sizeof header->bytes, offset, n);
}

static uint32_t number(const struct header *header, uint64_t offset)
{
    return (uint32_t)field(header, offset, 4);
}

static bool read_header(struct vm *vm, uint64_t address, struct header *header)
{
    return address != 0 && vm_read(vm, address, header->bytes, vm->nmethods.header_bytes);
}

/*
 * Names are texts of libjvm.so: where one is, it stays.  What else is in the code heaps, adapters mostly, has few
 * names: an address that is not that of such a text never will be.
 */
static bool is_nmethod(struct vm *vm, const struct header *header)
{
    struct nmethod_layout *at = &vm->nmethods;
    uint64_t address = field(header, at->name, 8);
    char name[16] = "";
    if (address == 0) /* nothing is in the block yet */
        return false;
    if (address == atomic_load(&at->known[0]) || address == atomic_load(&at->known[1]))
        return true;
    for (size_t i = 0; i < NMETHOD_OTHERS; i++)
        if (address == atomic_load(&at->others[i]))
            return false;
    if (vm_read_some(vm, address, name, sizeof name) == 0)
        return false;
    bool is_native = strncmp(name, "native nmethod", sizeof name - 1) == 0;
    if (is_native || strncmp(name, "nmethod", sizeof "nmethod") == 0) {
        atomic_store(&at->known[is_native], address);
        return true;
    }
    atomic_store(&at->others[atomic_fetch_add(&at->n_others, 1) % NMETHOD_OTHERS], address);
    return false;
}

/* In use, or entered no more: calls of it may be under way.  JDK 9 to 22 have 'not used' between them. */
static bool is_alive(struct vm *vm, const struct header *header)
{
    struct nmethod_layout *at = &vm->nmethods;
    return field(header, at->state, 1) <= (at->is_apart || at->is_former ? 1 : 2);
}

/* ---- the parts ---- */

/* Methods, scopes, PcDescs. */
static bool find_together(struct vm *vm, const struct nmethod *nmethod, const struct header *header,
                          struct nmethod_parts *parts)
{
    struct nmethod_layout *at = &vm->nmethods;
    uint64_t methods = number(header, at->together.methods), pcs = number(header, at->pcs);
    uint64_t scopes =
        at->is_former ? number(header, at->apart.scopes) : field(header, at->together.scopes, 8) - nmethod->address;
    uint64_t end = number(header, at->together.dependencies), all = number(header, at->n_bytes);
    if (methods > scopes || scopes > pcs || pcs > end || end > all)
        return false;
    *parts = (struct nmethod_parts){ .from = { nmethod->address + methods }, .n_bytes = { end - methods } };
    parts->n_methods_bytes = scopes - methods;
    parts->scopes = scopes - methods;
    parts->n_scopes_bytes = pcs - scopes;
    parts->pcs = pcs - methods;
    parts->n_pcs_bytes = end - pcs;
    return true;
}

/* Methods; PcDescs, scopes and more. */
static bool find_apart(struct vm *vm, const struct header *header, struct nmethod_parts *parts)
{
    struct nmethod_layout *at = &vm->nmethods;
    uint64_t relocations = number(header, at->apart.relocation_bytes), all = number(header, at->apart.mutable_bytes);
    uint64_t pcs = number(header, at->pcs), scopes = number(header, at->apart.scopes);
    uint64_t end = number(header, at->apart.fixed_bytes);
    if (relocations > all || pcs > scopes || scopes > end)
        return false;
    *parts = (struct nmethod_parts){ .from = { field(header, at->apart.mutable_at, 8) + relocations,
                                               field(header, at->apart.fixed, 8) + pcs },
                                     .n_bytes = { all - relocations, end - pcs } };
    parts->n_methods_bytes = all - relocations;
    parts->pcs = parts->n_methods_bytes;
    parts->n_pcs_bytes = scopes - pcs;
    parts->scopes = parts->pcs + parts->n_pcs_bytes;
    parts->n_scopes_bytes = end - scopes;
    return true;
}

static bool make_room(struct nmethod *nmethod, uint64_t n)
{
    if (n > BYTES_MAX)
        return false;
    if (n <= nmethod->room)
        return true;
    free(nmethod->bytes);
    nmethod->room = (size_t)n;
    nmethod->bytes = malloc(nmethod->room);
    if (nmethod->bytes == NULL)
        nmethod->room = 0;
    return nmethod->bytes != NULL;
}

/* A wrapper of a native method has none. */
static bool find_parts(struct vm *vm, const struct nmethod *nmethod, const struct header *header,
                       struct nmethod_parts *parts)
{
    return vm->nmethods.is_apart ? find_apart(vm, header, parts) : find_together(vm, nmethod, header, parts);
}

static void take_header(struct vm *vm, struct nmethod *nmethod, const struct header *header)
{
    struct nmethod_layout *at = &vm->nmethods;
    uint64_t end = nmethod->address;
    if (at->is_apart || at->is_former) {
        nmethod->start = nmethod->address + number(header, at->apart.code_offset);
        end += number(header, at->apart.data_offset);
    } else {
        nmethod->start = field(header, at->together.code_start, 8);
        end = field(header, at->together.code_end, 8);
    }
    nmethod->n_bytes = end < nmethod->start ? 0 : end - nmethod->start;
    nmethod->method = field(header, at->is_apart || at->is_former ? at->apart.method : at->together.method, 8);
    nmethod->tier = (uint32_t)field(header, at->tier, 1);
    nmethod->number = number(header, at->number);
    nmethod->is_in_use = field(header, at->state, 1) == 0;
    nmethod->entry_index = at->entry >= at->header_bytes ? -1 : (int32_t)number(header, at->entry);
}

static bool take_alive(struct vm *vm, struct nmethod *nmethod, uint64_t address, const struct header *header)
{
    nmethod->address = address;
    if (!is_nmethod(vm, header) || !is_alive(vm, header))
        return false;
    take_header(vm, nmethod, header);
    return find_parts(vm, nmethod, header, &nmethod->parts);
}

/* Is what the header is of the same as before? */
static bool is_same(struct vm *vm, const struct nmethod *nmethod, const struct header *header)
{
    struct nmethod now = { .address = 0 };
    return take_alive(vm, &now, nmethod->address, header) &&
           memcmp(now.parts.from, nmethod->parts.from, sizeof now.parts.from) == 0 && now.start == nmethod->start &&
           now.n_bytes == nmethod->n_bytes && now.method == nmethod->method && now.number == nmethod->number;
}

bool nmethod_is_there(struct vm *vm, const struct nmethod *nmethod)
{
    struct header header;
    return read_header(vm, nmethod->address, &header) && is_same(vm, nmethod, &header);
}

/* n headers, one behind the other, by one system call; the i-th of them. */
struct headers {
    uint8_t bytes[NMETHODS_MAX * HEADER_MAX];
    struct header one;
};

static void read_headers(struct vm *vm, const struct vm_piece *pieces, size_t n, struct headers *headers)
{
    memset(&headers->one, 0, sizeof headers->one);
    vm_read_each(vm, pieces, n, headers->bytes);
}

static const struct header *header_of(struct vm *vm, struct headers *headers, size_t i)
{
    struct nmethod_layout *at = &vm->nmethods;
    memcpy(headers->one.bytes, headers->bytes + i * at->header_bytes, (size_t)at->header_bytes);
    return &headers->one;
}

void nmethods_are_there(struct vm *vm, const struct nmethod *const *all, size_t n, bool *are_there)
{
    struct vm_piece pieces[NMETHODS_MAX];
    struct headers headers;
    for (size_t first = 0, now; first < n; first += now) {
        now = n - first < NMETHODS_MAX ? n - first : NMETHODS_MAX;
        for (size_t i = 0; i < now; i++)
            pieces[i] = (struct vm_piece){ all[first + i]->address, (size_t)vm->nmethods.header_bytes };
        read_headers(vm, pieces, now, &headers);
        for (size_t i = 0; i < now; i++)
            are_there[first + i] = is_same(vm, all[first + i], header_of(vm, &headers, i));
    }
}

bool nmethod_take(struct vm *vm, struct nmethod *nmethod, uint64_t address, const uint8_t *bytes, size_t n)
{
    struct header header = { { 0 } };
    memcpy(header.bytes, bytes, n < sizeof header.bytes ? n : sizeof header.bytes);
    return nmethod_why_not(vm) == NULL && take_alive(vm, nmethod, address, &header);
}

bool nmethod_is_named(struct vm *vm, uint64_t address, bool *alive)
{
    struct header header;
    if (!read_header(vm, address, &header) || !is_nmethod(vm, &header))
        return false;
    *alive = is_alive(vm, &header);
    return true;
}

bool nmethod_find_at(struct vm *vm, struct nmethod *nmethod, uint64_t address)
{
    struct header header;
    return nmethod_why_not(vm) == NULL && read_header(vm, address, &header) &&
           take_alive(vm, nmethod, address, &header);
}

size_t nmethods_find_at(struct vm *vm, struct nmethod *all, const uint64_t *headers, size_t n)
{
    struct vm_piece pieces[NMETHODS_MAX];
    struct headers found;
    size_t n_found = 0;
    if (nmethod_why_not(vm) != NULL || n > NMETHODS_MAX)
        return 0;
    for (size_t i = 0; i < n; i++)
        pieces[i] = (struct vm_piece){ headers[i], (size_t)vm->nmethods.header_bytes };
    read_headers(vm, pieces, n, &found);
    for (size_t i = 0; i < n; i++)
        n_found += take_alive(vm, &all[n_found], headers[i], header_of(vm, &found, i));
    return n_found;
}

bool nmethod_find(struct vm *vm, struct nmethod *nmethod, uint64_t address)
{
    return nmethod_find_at(vm, nmethod, code_heaps_find(vm, address)) && address - nmethod->start < nmethod->n_bytes;
}

bool nmethod_copy(struct vm *vm, struct nmethod *nmethod)
{
    struct nmethod_layout *at = &vm->nmethods;
    const struct nmethod_parts *parts = &nmethod->parts;
    const struct vm_piece pieces[2] = { { parts->from[0], parts->n_bytes[0] }, { parts->from[1], parts->n_bytes[1] } };
    uint64_t n = parts->n_bytes[0] + parts->n_bytes[1];
    if (!make_room(nmethod, n) || (n > 0 && !vm_read_pieces(vm, pieces, 2, nmethod->bytes)))
        return false;
    nmethod->scopes = (struct scopes){ .pcs = nmethod->bytes + parts->pcs,
                                       .bytes = nmethod->bytes + parts->scopes,
                                       .methods = nmethod->bytes + parts->methods,
                                       .n_pcs_bytes = parts->n_pcs_bytes,
                                       .n_bytes = parts->n_scopes_bytes,
                                       .n_methods_bytes = parts->n_methods_bytes,
                                       .pc_bytes = at->pc_bytes,
                                       .at_pc = at->pc_at,
                                       .at_scope = at->pc_scope,
                                       .code_bytes = nmethod->n_bytes,
                                       .excluded = vm_excluded_digits(vm) };
    return true;
}

void nmethod_free(struct nmethod *nmethod)
{
    free(nmethod->bytes);
    memset(nmethod, 0, sizeof *nmethod);
}
