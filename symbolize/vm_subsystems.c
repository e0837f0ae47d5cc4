#include "symbolize/vm_parts.h"

#include <fnmatch.h>

/*
 * By the outermost scope of a name, or all of a name without scopes; a star is any text.  The first rule that matches
 * counts.  Made from HotSpot's conventions for names, and held against the source files that the debug information of
 * OpenJDK 17.0.21 (Debian's openjdk-17-dbg) gives for its 56,000 functions: see mmprof-report(1).
 */
static const struct {
    enum vm_subsystem subsystem;
    const char *patterns; /* parted by blanks */
} rules[] = {
    /* Names that a rule below would take for something else. */
    { VM_CLASSES, "ClassLoaderData* BytecodeAssembler vmIntrinsics TypeOrigin VerificationType java_lang_* Archived* "
                  "VM_PopulateD* ClassLoader" },
    { VM_RUNTIME, "InterpreterMacroAssembler Relocator StackSlotAnalysisData SystemProcessInterface" },
    { VM_MEMORY, "TypeArrayKlass InstanceRefKlass ReservedSpace Reserved*Space VirtualSpace objArrayOopDesc "
                 "typeArrayOopDesc *Metaspace" },
    { VM_OTHER, "GCMemoryManager *MemorySpace ClassLoadingService ThreadIdTable ThreadDumpResult VM_DumpHashtable "
                "RootSetClosure ReferenceTo*Closure JfrBlob ClassFieldMap *MemoryPool CodeHeapPool "
                "MetaspacePool CompressedKlass*Pool" },
    { VM_CODE, "RuntimeStub OptimizedEntryBlob ICStub ObjectLookup CodeHeap UpcallStub" },
    { VM_COMPILER, "RegionNode Shenandoah*Node CodeCacheSweeperThread" },
    /* The code that compilers make for barriers, before the collectors themselves. */
    { VM_COMPILER, "*BarrierSetC1 *BarrierSetC2* *BarrierC2Support *BarrierStubC1 *BarrierStubC2 G1PostBarrierStub "
                   "G1PreBarrierStub Shenandoah*Stub ZLoadBarrier*Stub* ZStoreBarrierStub*" },
    { VM_GC,
      "AccessInternal Access RawAccessBarrier* *OopIterate* BarrierSet* *BarrierSet *BarrierSetAssembler "
      "*BarrierSetRuntime *BarrierSetNMethod G1* *CollectedHeap Shenandoah* Epsilon* PS[A-Z]* Par[A-Z]*Task "
      "ParallelScavengeHeap ParallelCompact* ParCompactionManager ParMarkBitMap MutableSpace* MutableNUMA* "
      "GenCollect* Generation* DefNew* Tenured* CardGeneration CardTable* *Space ContiguousSpace "
      "CompactibleSpace OffsetTable* BlockOffset* Serial[A-Z]* MarkSweep GenMarkSweep MarkAndPush* Adjust* "
      "FilteringClosure FastEvac* FastKeepAlive* KeepAlive* IsAlive* *IsAliveClosure ScanWeakRef* DoNothing* "
      "GCTrace* GCTracer *GCTracer *NewTracer *OldTracer GC[A-Z]*Kind GCLocker GCArguments GCConfig* GCLog* "
      "GCInit* GCId* GCCause* GCHeap* GCTimer GCMemory* HeapRegion* FreeRegionList OtherRegions* RSHashTable "
      "SparsePRT BufferNode* PtrQueue* SATB* DirtyCard* *CardQueue* WorkerData* OopStorage* WeakProcessor* "
      "ReferenceProcessor* ReferencePolicy DiscoveredList* StringDedup* PLAB* PreservedMark* TaskQueue* "
      "*TaskQueue* GenericTaskQueue* TaskTerminator Worker* *WorkGang GangWorker *GangTask SuspendibleThread* "
      "ConcurrentGC* ThreadLocalAlloc* MemAllocator ObjAllocator ObjArrayAllocator ClassAllocator AgeTable "
      "AdaptiveSizePolicy *SizePolicy VM_GC* VM_G1* VM_Gen* VM_Par* VM_Collect* VM_Z* VM_Shenandoah* "
      "*GCPhase* RegionNode BitMap*Closure MarkBitMap OopMapCache* OopMapForCache* InterpreterOopMap "
      "GenerateOopMap GeneratePairing* ResolveOopMap* MaskFill* FreeSet* SurvivorContiguous* CSet* "
      "AbstractGangTask RootProcessor ScavengableNMethods* ClaimMetadata* HeapBlockClaimer *EvacFail* "
      "MetadataVisiting* YoungGC* OldGC* SharedHeap PSScavenge PCAdjust* PCIter* PCMark* Partition* "
      "BinaryMagnitude* StealRegion* FillClosure DeadCounter* TLAB* ScanClosure* Z[A-Z]* XBarrier* XHeap* "
      "rule_* GCPolicyCounters GCAdaptive* ModRef* CollectorCounters FreeListAllocator "
      "*SpaceMangler TimePartitions MutatorAllocRegion *AllocRegion ParallelArguments GenArguments *RootsClosures "
      "*SpaceCounters LinearLeastSquare*" },
    { VM_COMPILER, "*Node *Oper ci[A-Z]* Phase* C1_* C2* LIR* JVMCI* *JVMCI* HotSpotJVMCI* HotSpotCompiled* Type "
                   "Type[A-Z]* *Type Assembler* *Assembler MacroAssembler* State Instruction* LibraryCallKit Compile "
                   "Compile[A-Z]* Compilation* Compiler* GraphKit GraphBuilder* *KitException IdealKit IdealLoop* "
                   "IdealGraph* IdealVariable ValueNumbering* ValueMap* GlobalValue* RangeCheck* Parse Parse[A-Z]* "
                   "SuperWord* SWPointer VLoop* VPointer VTransform* LinearScan* *CallGenerator CallGenerator "
                   "ProfileData *TypeData MethodData *Data OptoRuntime* Matcher ConnectionGraph BCEscape* "
                   "Directive* DirectiveSet StubGenerator StubAssembler* Runtime1 CodeInstaller CodeBuffer CodeSection "
                   "CodeStub *Stub FrameMap Canonicalizer Block Block_* BlockBegin BlockEnd BlockList* BlockMerger "
                   "Method[LM]iveness MethodMatcher ObjectType FpuStack* ValueStack NullCheck* Interval* Scheduling "
                   "RegMask* JVMState MoveResolver PhiResolver* PhiSimplifier InlineTree ComputeLinear* *Node_* "
                   "Unique_Node_List MemoryGraphFixer Goto NodeHash StateSplit ReplacedNodes If ConstantTable "
                   "decode_env AbstractAssembler AbstractCompiler NewArray New[A-Z]*Array NewInstance MetadataType "
                   "ArrayLength Access[A-Z]* Array[A-Z]*Stub Invoke IndexSet* EdgeMove* Dict DictI ControlFlow* "
                   "Constant CFGLoop CFGElement VectorSet StoreIndexed StoreField LoadIndexed LoadField InstanceOf "
                   "CheckCast *Constant OopMap OopMapSet OopMapStream OopMapValue OopMapSort ImmutableOopMap* "
                   "CompressedOopMap* DerivedPointer* StringConcat LibraryIntrinsic ArithmeticOp LogicOp ShiftOp "
                   "CompareOp NegateOp IfOp Op2 Phi Local Convert Intrinsic *Disassembler Disassembler UnionFind "
                   "Throw ProfileInvoke ProfileCall ProfileReturnType Return* OopFlow *Tarjan* LRG LiveRangeMap "
                   "RuntimeCall OsrEntry Optimizer MonitorEnter MonitorExit MemBar *Intrinsic* TableSwitch "
                   "LookupSwitch Switch XHandler* CodeEmitInfo Unsafe[A-Z]* UseCount* SubstitutionResolver LoopInv* "
                   "LoopTree* LoopFind* Loop[A-Z]* CountedLoop* PathFrequency Pipeline* Bundle Trace CMoveKit "
                   "DepGraph DepMem DepPreds DepSuccs Predicate* *Predicate* *Predicates AbstractInterpreterCodelet "
                   "InlineMatcher IntelJcc* BasicMatcher InvocationCounter FailedSpeculation SpeculativeTrap* "
                   "NonSafepointEmitter OopMapBuilder RegisterImpl XMMRegister* KRegister* FloatRegister* Label "
                   "MergePrimitiveStores* StoresSequence* Optimize* Split* CallInfoData PrintValueVisitor "
                   "CE_Eliminator CriticalEdge* BoolTest Range SortedUnique* *ILoopTree* jvmci_* c2v_*" },
    { VM_CODE, "nmethod* CodeCache* Dependen* DepChange *DepChange CodeBlob* *Blob OopRecorder MetadataRecorder "
               "CodeHeapState CodeHeap *Relocation *_Relocation Reloc* relocInfo CompiledMethod* ValueRecorder* "
               "ScopeValue ScopeDesc CompiledIC* CompiledDirect* CompiledStatic* DebugInfo* DependencyContext "
               "DirectNative* CallRelocation StubQueue InlineCache* VtableStub* ExceptionHandlerTable ExceptionCache "
               "Implicit* Native[A-Z]*Call NativeCall NativeJump NativeMov* NativeGeneral* NativePlt* NativeInst* "
               "NativePostCall* ObjectValue ICStub* RelocIterator *MethodFinder *SubtypeFinder PcDesc* Location "
               "LocationValue *ReadValue *WriteValue CompressedReadStream CompressedWriteStream Constant*Value "
               "MonitorValue MarkerValue VMRegImpl SharedRuntime::reresolve* AbstractClassHierarchy* "
               "ClassHierarchyWalker DefaultICProtection* AutoBoxObject* *ICProtection* VerifyMetadata* "
               "NMethodState* NMethodMarker* PcDescSearch" },
    { VM_CLASSES, "InstanceKlass* InstanceMirror* Klass KlassFactory Method MethodFamily MethodCounters ConstMethod "
                  "ConstantPool* constantPool* SystemDictionary* ClassFile* FileMap* ClassLoader* ClassVerifier "
                  "Verif* StackMap* SymbolTable* Symbol StringTable* Module* Package* java_* jdk_* reflect_* "
                  "klassVtable klassItable vtableEntry itable* Dictionary* Placeholder* Rewriter LinkResolver LinkInfo "
                  "CallInfo HeapShared* ArchiveBuilder* Archive* Archived* MetaspaceShared* DynamicArchive* "
                  "StaticArchive* CDS* Cds* Lambda* ClassList* BytecodeAssembler BytecodeStream RawBytecodeStream "
                  "BaseBytecodeStream BytecodeConstantPool vmIntrinsics vmSymbols vmClasses JavaClasses "
                  "LoaderConstraint* FieldLayout* FieldGroup FieldInfo* LayoutRaw* TypeOrigin ProtectionDomain* "
                  "ErrorContext OopMapBlock* BootstrapInfo HashtableTextDump CompactHashtable* ResolutionError* "
                  "Annotations DefaultMethods *MethodFamily MetadataOnStack* JavaAssertions AltHashing JImage* "
                  "Hierarchy* SharedClass* DumpTime* RunTime* PerfClassTrace* LoadedClass* JNIid JNIMethodBlock* "
                  "ClassPath* CppVtable* InjectedField InnerClass* AOTClass* AOT* TrainingData* Class[A-Z]* "
                  "DumpRegion SymbolProperty* WriteClosure ReadClosure LockedClassesDo" },
    { VM_MEMORY, "Metaspace* metaspace Metadata Universe oopDesc *ArrayOopDesc Arena ArenaStats* ObjArrayKlass "
                 "TypeArrayKlass ArrayKlass *RefKlass Instance*Klass Reserved* VirtualSpace oopFactory Resource[AO]* "
                 "Compressed[OK]* Chunk ChunkPool* Weak[HO]* Oop[HS]* MemRegion StackObj* markWord GuardedMemory "
                 "CompiledICHolder LatestMethodCache CHeap* AnyObj* StackChunk* InstanceStackChunkKlass "
                 "*oopDesc *OopDesc ReflectionAccessorImplKlassHelper" },
    { VM_OTHER, "Jvmti* jvmti* Jfr* JFR* JdkJfr* jfr_* jmm_* WB_* WhiteBox DCmd* *DCmd* VM_Heap* Heap*Dump* Dump* "
                "Management Memory* Mem[A-Z]* Malloc[A-Z]* VirtualMemory* NMT* ThreadService ThreadSnapshot "
                "ThreadStackT* VM_Redefine* VM_GetOrSet* VM_GetAll* VM_White* ObjectSampl* LeakProfiler EdgeStore* "
                "EdgeQueue BFSClosure DFSClosure WriteableFlags GrowableCache *EventWriter* EventWriter* EventEmitter "
                "Jvm[tT]i* HeapInspection KlassInfo* LowMemory* GCNotifier GCMemoryManager CollectedMemoryPool "
                "forte_* AsyncGetCallTrace StackFrameInfo" },
    { VM_RUNTIME,
      "Thread Thread[A-Z]* JavaThread* *Thread Threads* os os_* os::* Posix* Linux* LinkedList* "
      "BasicHashtable* Hashtable* ConcurrentHashTable* ResourceHash* VM_* Template* Stack Stack[A-Z]* "
      "SharedRuntime Arguments *Interpreter* Interpreter* frame frame::* vframe* *VFrame *vframe* "
      "Deoptimization* Deopt* ObjectSynchronizer ObjectMonitor* Object[LW]* LightweightSync* Lock* "
      "BasicLock Monitor* Mutex* Semaphore Handshake* xmlStream *Stream *stream FormatBuffer* BitMap* "
      "*BitMap MethodHandles VMError Exceptions Exception* JNI* jni_* checked_* JVM_* Unsafe_* JVMFlag* "
      "Flag* Cgroup* OSContainer Log* AsyncLog* Log JSON Events Event[LM]* VM_Version* StubRoutines "
      "StubCode* Stub[A-Z]* Relocator Reflection JavaCall* fieldDescriptor Safepoint* ResolvedMethod* Perf* "
      "Perf_* Growable* UNICODE UTF8 Native[A-Z]* *Counter* Elf* Decoder Abs* NumberSeq TruncatedSeq "
      "Signature* Bytecode* Bytecodes Handle Handle[A-Z]* *Handle ParkEvent Parker Park* Periodic* Copy "
      "Spin* Continuation* Freeze* Thaw* jio_* MHN_* vm_* PlatformMonitor PlatformMutex SpinYield "
      "QuickSort Quick* Access* Adapter* Vector* Foreign* Upcall* Downcall* BiasedLocking* Rdtsc Attach* "
      "NMethodSweeper ServiceThread Sweep* Watcher* SafeFetch* _SafeFetch* *Closure elapsedTimer TimeStamp "
      "*Mark *Operation Async* SIGN* Signal* signal* JVM* crash* ::* Count* Nmethod* StringUtils "
      "BytecodeTracer Abstract* Escape* *Barrier SortedLinkedList *Interface RangedFlag* TypedFlag* StatSampler "
      "ProgrammableUpcall* Simulated* jniCheck jvmtiDeferred* subsystem_* TableRate* EntryPoint THPSupport "
      "SafeThreadsListPtr *Decoder StaticHugePage* SlowSignature*" },
};

static const struct {
    const char *name, *key;
} names[VM_SUBSYSTEMS] = {
    [VM_GC] = { "garbage collection", "vm_gc" }, [VM_MEMORY] = { "memory", "vm_memory" },
    [VM_RUNTIME] = { "runtime", "vm_runtime" },  [VM_COMPILER] = { "compiler", "vm_compiler" },
    [VM_CODE] = { "code cache", "vm_code" },     [VM_CLASSES] = { "class loading, linking", "vm_classes" },
    [VM_OTHER] = { "other", "vm_other" },        [VM_UNKNOWN] = { "no symbol", "vm_unknown" },
};

/* Does one of the patterns match? */
static bool matches(const char *patterns, const char *scope)
{
    char pattern[64];
    for (const char *at = patterns; *at != '\0';) {
        size_t n = strcspn(at, " ");
        if (n > 0 && n < sizeof pattern) {
            memcpy(pattern, at, n);
            pattern[n] = '\0';
            if (fnmatch(pattern, scope, 0) == 0)
                return true;
        }
        at += n + (at[n] == ' ');
    }
    return false;
}

/* "Foo" of "Foo<>::bar"; what is in no named namespace counts as if it were in none. */
static void outermost(const char *name, char *scope, size_t n)
{
    static const char anonymous[] = "(anonymous)::";
    if (strncmp(name, anonymous, sizeof anonymous - 1) == 0)
        name += sizeof anonymous - 1;
    size_t n_scope = strcspn(name, "<:");
    if (n_scope >= n)
        n_scope = n - 1;
    memcpy(scope, name, n_scope);
    scope[n_scope] = '\0';
}

enum vm_subsystem vm_subsystem_of(const char *name, const char *mangled)
{
    char scope[256];
    /* What walks over the references in objects is the collectors', whichever class they made it a part of. */
    if (strstr(mangled, "OopIterate") != NULL || strstr(mangled, "oop_iterate") != NULL ||
        strstr(mangled, "oop_oop_") != NULL || strstr(mangled, "BarrierSet13AccessBarrier") != NULL)
        return VM_GC;
    outermost(name, scope, sizeof scope);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (matches(rules[i].patterns, scope))
            return rules[i].subsystem;
    return VM_OTHER;
}

const char *vm_subsystem_name(enum vm_subsystem subsystem)
{
    return names[subsystem].name;
}

const char *vm_subsystem_key(enum vm_subsystem subsystem)
{
    return names[subsystem].key;
}

bool vm_is_library(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strcmp(slash == NULL ? path : slash + 1, "libjvm.so") == 0;
}
