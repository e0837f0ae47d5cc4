/*
 * Names of native functions, the sub-systems of libjvm.so, and what code locations are, from what a trace says of them.
 */
#include "symbolize/code_locations.h"
#include "symbolize/native_symbols.h"

#include "core/jvm/elf_file.h"
#include "core/jvm/maps.h"
#include "test/unit/tap.h"

#include <fcntl.h>
#include <unistd.h>

static struct arena arena;
static struct err err;

static void test_names(void)
{
    static const struct {
        const char *mangled, *name;
    } rows[] = {
        { "_ZN15G1CollectedHeap12mem_allocateEmPb", "G1CollectedHeap::mem_allocate" },
        { "_ZNK8G1Policy11use_youngerEv.part.0", "G1Policy::use_younger" },
        { "_ZN9metaspace15ChunkHeaderPool10initializeEv", "metaspace::ChunkHeaderPool::initialize" },
        { "_ZL23initialize_static_fieldP15fieldDescriptor6HandleP10JavaThread", "initialize_static_field" },
        { "_ZN13OopOopIterateI8G1CMTask13InstanceKlassE3runEv", "OopOopIterate<>::run" },
        { "_ZN14AccessInternal15RuntimeDispatchILm331846EP7oopDescLNS_11BarrierTypeE2EE9load_initEPv",
          "AccessInternal::RuntimeDispatch<>::load_init" },
        { "_ZN9LogPrefixILN6LogTag4typeE43ELS1_149ELS1_0EE6prefixEPcm", "LogPrefix<>::prefix" },
        { "_ZN7CompileC2EP5ciEnvP8ciMethodi", "Compile::Compile" },
        { "_ZN7CompileD0Ev", "Compile::~Compile" },
        { "_ZN4NodenwEm", "Node::operator" },
        { "_ZThn16_N3Foo3barEv", "Foo::bar" },
        { "_ZZN16java_lang_String6createEvE4once", "java_lang_String::create" },
        { "_ZN12_GLOBAL__N_13runEv", "(anonymous)::run" },
        { "jni_GetStringUTFChars", "jni_GetStringUTFChars" },
        { "memcpy.constprop.0", "memcpy" },
        { "_ZN3FooIXadL_Z3barvEEE3runEv", "Foo<>::run" },
        /* not what the ABI has: as they are */
        { "_Z", "_Z" },
        { "_ZN99Foo", "_ZN99Foo" },
        { "_ZN3Foo", "_ZN3Foo" },
        { "_ZN3FooIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIII",
          "_ZN3FooIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIII" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_TEXT(rows[i].mangled, native_symbols_display(&arena, rows[i].mangled), rows[i].name);
}

/* Functions that the samples of javac, h2 and lucene on OpenJDK 17 and 25 meet, and where their sources are. */
static void test_subsystems(void)
{
    static const struct {
        const char *mangled;
        enum vm_subsystem subsystem;
    } rows[] = {
        { "_ZN20G1ParScanThreadState23trim_queue_to_thresholdEj", VM_GC },
        { "_ZN18PSPromotionManager22copy_to_survivor_spaceEv", VM_GC },
        { "_ZN16DefNewGeneration7collectEbbmb", VM_GC },
        { "_ZN12SerialFullGC11follow_rootEv", VM_GC },
        { "_ZN21OopOopIterateDispatchI18G1ScanEvacuatedObjE5Table15oop_oop_iterateI13InstanceKlassEEvv", VM_GC },
        { "_ZN12MemAllocator8allocateEv", VM_GC },
        { "_ZN22ThreadLocalAllocBuffer4fillEv", VM_GC },
        { "_ZN12OopMapCache6lookupERK12methodHandle", VM_GC },
        { "_ZN12PhaseChaitin5SplitEv", VM_COMPILER },
        { "_ZN7AddNode5IdealEP8PhaseGVNb", VM_COMPILER },
        { "_ZN10LinearScan14allocate_registersEv", VM_COMPILER },
        { "_ZN8ciMethod16get_field_at_bciEi", VM_COMPILER },
        { "_ZNK14G1BarrierSetC28store_atEv", VM_COMPILER },
        { "_ZN13CompileBroker20compiler_thread_loopEv", VM_COMPILER },
        { "_ZN9CodeCache9find_blobEPv", VM_CODE },
        { "_ZN17DependencyContext21add_dependent_nmethodEP7nmethod", VM_CODE },
        { "_ZN7nmethod5flushEv", VM_CODE },
        { "_ZN15ClassFileParser12parse_streamEv", VM_CLASSES },
        { "_ZN16SystemDictionary15resolve_or_nullEP6Symbol", VM_CLASSES },
        { "_ZN12LinkResolver20resolve_virtual_callEv", VM_CLASSES },
        { "_ZN13ClassVerifier13verify_methodEv", VM_CLASSES },
        { "_ZN13InstanceKlass10link_classEP10JavaThread", VM_CLASSES },
        { "_ZN12ConstantPool13klass_at_implEv", VM_CLASSES },
        { "_ZN9Metaspace8allocateEv", VM_MEMORY },
        { "_ZN9metaspace14MetaspaceArena8allocateEm", VM_MEMORY },
        { "_ZN5Arena4growEm", VM_MEMORY },
        { "_ZN20SafepointSynchronize5beginEv", VM_RUNTIME },
        { "_ZN18ObjectSynchronizer5enterE6HandleP9BasicLockP10JavaThread", VM_RUNTIME },
        { "_ZN18InterpreterRuntime4ldc_EP10JavaThreadb", VM_RUNTIME },
        { "_ZN14Deoptimization12fetch_unrollEv", VM_RUNTIME },
        { "jni_CallObjectMethod", VM_RUNTIME },
        { "Unsafe_AllocateMemory0", VM_RUNTIME },
        { "_ZN11JvmtiExport17post_compiled_method_loadEP7nmethod", VM_OTHER },
        { "_ZN10JfrStorage5writeEv", VM_OTHER },
        { "what_no_rule_knows", VM_OTHER },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_TEXT(rows[i].mangled,
                   vm_subsystem_name(vm_subsystem_of(native_symbols_display(&arena, rows[i].mangled), rows[i].mangled)),
                   vm_subsystem_name(rows[i].subsystem));
    CHECK("libjvm.so is HotSpot, wherever it is", vm_is_library("/opt/jdk/lib/server/libjvm.so") &&
                                                      vm_is_library("libjvm.so") && !vm_is_library("/lib/libc.so.6"));
}

/* ---- maps ---- */

static void test_maps(void)
{
    static const char text[] = "55d0-55d1 r--p 00000000 fe:00 1   /usr/bin/java\n"
                               "55d1-55d3 r-xp 00001000 fe:00 1   /usr/bin/java\n"
                               "7f00-7f10 rwxp 00000000 00:00 0 \n"
                               "7f10-7f40 ---p 00000000 00:00 0 \n"
                               "7f40-7f50 rwxp 00000000 00:00 0 \n"
                               "7f50-7f60 rw-p 00000000 00:00 0 \n"
                               "8000-8010 r-xp 00040000 fe:00 2   /opt/a dir/libjvm.so (deleted)\n"
                               "9000-9002 r-xp 00000000 00:00 0   [vdso]\n"
                               "broken\n";
    struct jvm_maps maps;
    jvm_maps_init(&maps);
    jvm_maps_parse(&maps, text);
    CHECK_NUMBER("its executable pieces are kept", maps.n, 5);
    const struct jvm_mapping *java = jvm_maps_find(&maps, 0x55d2), *code = jvm_maps_find(&maps, 0x7f3f),
                             *deleted = jvm_maps_find(&maps, 0x8000);
    CHECK("a file's, with its offset",
          java != NULL && java->offset == 0x1000 && strcmp(java->path, "/usr/bin/java") == 0);
    CHECK("what is reserved behind code is code to be", code != NULL && code->path == NULL && code->start == 0x7f00);
    CHECK("other memory is not", jvm_maps_find(&maps, 0x7f55) == NULL && jvm_maps_find(&maps, 0x55d0) == NULL &&
                                     jvm_maps_find(&maps, 0x9002) == NULL && jvm_maps_find(&maps, 0) == NULL);
    CHECK_TEXT("a path with blanks", deleted == NULL ? NULL : deleted->path, "/opt/a dir/libjvm.so");
    CHECK("of a file that was deleted, with its number",
          deleted != NULL && deleted->is_deleted && deleted->inode == 2 && !java->is_deleted);
    CHECK("this process' own map has this function",
          jvm_maps_read(&maps, getpid()) == 0 && jvm_maps_find(&maps, (uint64_t)(uintptr_t)test_maps) != NULL);
    CHECK("a process that is gone leaves what was read",
          jvm_maps_read(&maps, 0x3ffffff) == -1 && jvm_maps_find(&maps, (uint64_t)(uintptr_t)test_maps) != NULL);
    jvm_maps_free(&maps);
}

/* ---- symbols of this very program ---- */

static int find(const char *path, const char *build_id, const uint64_t *offsets, size_t n,
                struct native_symbols *symbols)
{
    struct jvm_root own;
    jvm_root_own(&own);
    const struct jvm_file file = { &own, path, open(path, O_RDONLY | O_CLOEXEC) };
    int rc = native_symbols_find(&arena, &file, build_id, "/nowhere", offsets, n, symbols, &err);
    if (file.fd >= 0)
        close(file.fd);
    jvm_root_close(&own);
    return rc;
}

static void test_own_symbols(void)
{
    struct jvm_maps maps;
    struct native_symbols symbols;
    struct elf_file self;
    char id[JVM_BUILD_ID_BYTES], wrong[JVM_BUILD_ID_BYTES] = "00112233";
    jvm_maps_init(&maps);
    jvm_maps_read(&maps, getpid());
    uint64_t address = (uint64_t)(uintptr_t)test_own_symbols + 4;
    const struct jvm_mapping *mapping = jvm_maps_find(&maps, address);
    if (!CHECK("this program is an ELF file", elf_file_open(&self, open("/proc/self/exe", O_RDONLY | O_CLOEXEC)) == 0))
        return;
    elf_file_build_id(&self, id);
    elf_file_close(&self);
    const uint64_t own = mapping == NULL ? 0 : address - mapping->start + mapping->offset;
    const uint64_t offsets[] = { own, 0, own + 1, UINT64_MAX, own };
    if (CHECK("with symbols", find("/proc/self/exe", id, offsets, 5, &symbols) == 0)) {
        const struct native_symbol *symbol = native_symbols_at(&symbols, own);
        CHECK_TEXT("that name this function", symbol == NULL ? NULL : symbol->name, "test_own_symbols");
        CHECK("once", symbols.n == 1 && native_symbols_at(&symbols, own + 1) == symbol);
        CHECK_TEXT("they are its own", symbols.from, ".symtab");
        CHECK("what is no function has no name",
              native_symbols_at(&symbols, 0) == NULL && native_symbols_at(&symbols, UINT64_MAX) == NULL);
    }
    CHECK("none are asked for", find("/proc/self/exe", id, NULL, 0, &symbols) == 0 && symbols.n == 0);
    CHECK("another build is refused",
          find("/proc/self/exe", wrong, offsets, 5, &symbols) == -1 && strstr(err.text, "another build") != NULL);
    CHECK("so is what is no ELF file", find("/proc/self/maps", "", offsets, 5, &symbols) == -1);
    CHECK("and what is not there", find("/no/such/file", "", offsets, 5, &symbols) == -1);
    jvm_maps_free(&maps);
}

/* ---- code locations ---- */

static void hear_all(struct code_locations *locations)
{
    static const struct location_entry entries[] = {
        { .kind = LOCATION_FILE, .number = 9, .path = { "/jdk/libjvm.so", 14 }, .symbols = { ".symtab", 7 } },
        { .kind = LOCATION_FILE, .number = 4, .path = { "/lib/libc.so", 12 }, .symbols = { "none", 4 } },
        { .kind = LOCATION_FILE, .number = 5, .path = { "/x/libmmprof-agent.so", 21 }, .symbols = { ".symtab", 7 } },
        { .kind = LOCATION_SYMBOL, .number = 9, .offset = 500, .n_bytes = 20, .name = { "_ZN9CodeCache4findEv", 20 } },
        { .kind = LOCATION_SYMBOL,
          .number = 9,
          .offset = 100,
          .n_bytes = 50,
          .name = { "_ZN12PhaseChaitin3runEv", 23 } },
        { .kind = LOCATION_METHOD,
          .number = 0,
          .class_name = { "a/Inner", 7 },
          .name = { "get", 3 },
          .descriptor = { "()I", 3 },
          .source = { "Inner.java", 10 } },
        { .kind = LOCATION_METHOD,
          .number = 1,
          .class_name = { "a/Main", 6 },
          .name = { "run", 3 },
          .descriptor = { "()V", 3 },
          .source = { "Main.java", 9 } },
        { .kind = LOCATION_IN_FILE, .number = 0, .file = 9, .offset = 149 },
        { .kind = LOCATION_IN_FILE, .number = 1, .file = 9, .offset = 150 },
        { .kind = LOCATION_IN_FILE, .number = 2, .file = 9, .offset = 500 },
        { .kind = LOCATION_IN_FILE, .number = 3, .file = 4, .offset = 500 },
        { .kind = LOCATION_IN_FILE, .number = 4, .file = 5, .offset = 500 },
        { .kind = LOCATION_IN_CODE, .number = 5, .code = LOCATION_INTERPRETER, .name = { "Interpreter", 11 } },
        { .kind = LOCATION_IN_CODE,
          .number = 6,
          .code = LOCATION_COMPILED,
          .tier = 4,
          .n_frames = 2,
          .frames = { { 0, 12 }, { 1, 30 } } },
        { .kind = LOCATION_IN_CODE,
          .number = 7,
          .code = LOCATION_COMPILED,
          .tier = 3,
          .n_frames = 1,
          .frames = { { 0, 13 } } },
        { .kind = LOCATION_IN_CODE, .number = 8, .code = LOCATION_UNKNOWN },
        { .kind = LOCATION_IN_CODE,
          .number = 11,
          .code = LOCATION_COMPILED,
          .tier = 4,
          .n_frames = 3,
          .frames = { { 0, 12 }, { 1, 0 }, { 1, 30 } } },
        { .kind = LOCATION_IN_CODE,
          .number = 12,
          .code = LOCATION_INTERPRETER,
          .n_frames = 2,
          .frames = { { 0, LOCATION_BYTECODE + 5 }, { 1, LOCATION_BYTECODE } } },
        { .kind = LOCATION_IN_FILE, .number = 9, .file = 9, .offset = 110 },
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        code_locations_hear(locations, &entries[i]);
}

static void test_places(void)
{
    static const struct {
        const char *claim;
        enum code_location_kind kind;
        enum vm_subsystem subsystem;
        const char *name;
    } rows[] = {
        { "the end of a function of the JVM", CODE_AT_VM, VM_COMPILER, "PhaseChaitin::run" },
        { "between functions there is no name", CODE_AT_VM, VM_UNKNOWN, "" },
        { "the start of another function", CODE_AT_VM, VM_CODE, "CodeCache::find" },
        { "a library without symbols", CODE_AT_NATIVE, VM_UNKNOWN, "" },
        { "mmprof's own", CODE_AT_AGENT, VM_UNKNOWN, "" },
        { "the interpreter", CODE_AT_INTERPRETER, VM_UNKNOWN, "Interpreter" },
        { "code of C2: the inlined method", CODE_AT_C2, VM_UNKNOWN, "a/Inner.get" },
        { "code of C1", CODE_AT_C1, VM_UNKNOWN, "a/Inner.get" },
        { "unknown code stays unknown", CODE_AT_UNKNOWN, VM_UNKNOWN, "" },
        { "another code location in the first function", CODE_AT_VM, VM_COMPILER, "PhaseChaitin::run" },
        { "one that was not described", CODE_AT_UNKNOWN, VM_UNKNOWN, "" },
    };
    struct code_locations *locations = code_locations_open();
    struct code_location found[sizeof rows / sizeof *rows];
    hear_all(locations);
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        code_locations_find(locations, i, &found[i]);
        const struct code_function *function = code_locations_function(locations, found[i].function);
        CHECK(rows[i].claim, function->kind == rows[i].kind && function->subsystem == rows[i].subsystem &&
                                 strcmp(function->name, rows[i].name) == 0);
    }
    CHECK("code locations in one function are that function's",
          found[0].function == found[9].function && found[0].function != found[2].function);
    CHECK("code of another compiler is another function", found[6].function != found[7].function);
    CHECK_NUMBER("a line", found[6].line, 12);
    CHECK_TEXT("and where it is inlined", found[6].outer, "Main.run:30");
    code_locations_find(locations, 11, &found[0]);
    CHECK_TEXT("a line that is not known is not said", found[0].outer, "Main.run in Main.run:30");
    code_locations_find(locations, 12, &found[0]);
    CHECK("a method without lines: a bytecode",
          found[0].line == 0 && found[0].bytecode == 6 && strcmp(found[0].outer, "Main.run") == 0);
    code_locations_find(locations, 6, &found[0]);
    CHECK_NUMBER("of one with lines there is none", found[0].bytecode, 0);
    code_locations_close(locations);
}

int main(void)
{
    test_names();
    test_subsystems();
    test_maps();
    test_own_symbols();
    test_places();
    arena_free(&arena);
    return tap_done();
}
