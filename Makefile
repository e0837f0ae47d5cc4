# mmprof: 'make demo' shows it, 'make check' tests it; 'make help' lists the rest.

CC       ?= cc
BUILD    ?= build
PREFIX   ?= /usr/local
VERSION  := 0.1.0
SANITIZE ?=

CSTD     := -std=c11 -D_GNU_SOURCE -DMMPROF_VERSION='"$(VERSION)"'
WARN     := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Werror
CFLAGS   ?= -O2 -g
SANITIZE_FLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)
ALL_CFLAGS := $(CSTD) $(WARN) $(CFLAGS) $(SANITIZE_FLAGS) -I. -MMD -MP
LDFLAGS_ALL := $(LDFLAGS) $(SANITIZE_FLAGS)
CLI_LIBS := -lcjson -lelf -ldw -lz -lm -lpthread

# The JVM's headers (jvmti.h) come from any JDK; nothing of it is linked.
JDK      ?= $(patsubst %/include/jvmti.h,%,$(firstword $(wildcard /usr/lib/jvm/java-17-openjdk-*/include/jvmti.h /usr/lib/jvm/*/include/jvmti.h)))
JVMTI     = -isystem $(JDK)/include -isystem $(JDK)/include/linux

# What runs inside the target: libc and libpthread only.
AGENT_SRC := $(filter-out core/agent/lab/%,$(wildcard core/agent/*.c core/agent/*/*.c)) $(patsubst %,core/hotspot/%.c,bytecodes class_layout code_heaps nmethod vm_allocated vm_bytecodes vm_compilers vm_counts vm_exports vm vm_flags vm_heap vm_methods vm_streams vm_thread_list) \
             $(patsubst %,core/base/%.c,err hash pattern utf8 words) core/pmu/perf_open.c core/pmu/read.c core/pmu/outside.c \
             $(wildcard core/wire/*.c)
# The laboratory's agent counts objects and calls, and knows of emulators.
LAB_AGENT_SRC := $(filter-out %/agent_lab_none.c,$(AGENT_SRC)) $(wildcard core/agent/lab/*.c) core/emu/run/simulated_read.c
# The JVM's structures, as what runs inside the emulator reads them.
VM_SRC := $(patsubst %,core/hotspot/%.c,bytecodes class_layout code_heaps vm_bytecodes vm_exports vm vm_flags vm_methods vm_streams vm_tables) core/wire/smap.c
# What runs inside the emulator: libc and libpthread, and QEMU itself.
PLUGIN_SRC := $(wildcard core/emu/plugin/*.c core/emu/model/*.c) $(VM_SRC) \
             $(patsubst %,core/hotspot/%.c,nmethod vm_members) core/base/err.c core/base/hash.c core/base/xalloc.c core/trace/misses.c
# Likewise, for tools.
TOOL_SRC  := $(wildcard core/emu/tool/*.c) $(patsubst %,core/emu/plugin/%.c,qemu_plugin qemu_stale vm_classes vm_memory vm_metadata) $(VM_SRC) \
             $(patsubst %,core/hotspot/%.c,code_blobs frame_aarch64 frame_rules frame_x86 known_methods nmethod no_native_frames stack_frames stack_native stack_search stack_walk stack_words vm_thread_list) \
             $(patsubst %,core/emu/model/sim_%.c,decode lru machine model presets) core/wire/code_log.c core/recorder/code_map.c $(patsubst %,core/base/%.c,arena err hash map text utf8 words xalloc)
# The tool that writes address traces.
MEMTRACE_SRC := $(patsubst %,core/emu/memtrace/memtrace_%.c,tool entry)
# Likewise, for what objects' places would change.
PLACEMENT_SRC := $(wildcard core/emu/placement/*.c core/emu/model/*.c) $(VM_SRC) $(patsubst %,core/base/%.c,arena err hash xalloc) \
             $(patsubst %,core/emu/plugin/%.c,heap_walk qemu_plugin qemu_stale vm_classes vm_memory)
# Preloaded into what a command starts: libc only.
START_SRC := $(patsubst %,core/jvm/%.c,start_java flag_words)
CLI_SRC   := $(wildcard cmd/*.c cmd/*/*.c) $(filter-out core/agent/% core/emu/plugin/% core/emu/tool/% %/start_java.c %/memtrace_tool.c %/no_native_frames.c %/placement_plugin.c %/placement_heap.c,$(wildcard core/*/*.c core/*/*/*.c)) $(wildcard symbolize/*.c phases/*/*.c report/*.c report/*/*.c)
MAIN_SRC  := cmd/main.c cmd/lab/lab_main.c cmd/fleet/fleet_main.c cmd/mcp/mcp_main.c
LIB_SRC   := $(filter-out $(MAIN_SRC) cmd/lab/lab_parts.c,$(CLI_SRC)) cmd/no_parts.c
LIB       := $(BUILD)/mmprof.a
# What mmprof starts for its rarer commands: the laboratory by several names, the fleet, and the server for assistants.
LIBEXEC   := $(BUILD)/libexec/mmprof
LAB_NAMES := memtrace placement jit check-jit drive sweep
OTHERS    := $(addprefix $(LIBEXEC)/mmprof-,lab fleet mcp $(LAB_NAMES))
UNIT_SRC  := $(wildcard test/unit/*.c)

# Tools that show how they are written.
EXAMPLES  := $(patsubst core/emu/tool/examples/%.c,$(BUILD)/%.so,$(wildcard core/emu/tool/examples/*.c))

LIB_OBJ   := $(LIB_SRC:%.c=$(BUILD)/%.o) $(BUILD)/report/html_template.o $(BUILD)/report/frameworks_text.o $(BUILD)/cmd/mcp/mcp_tools_text.o
AGENT_OBJ := $(AGENT_SRC:%.c=$(BUILD)/pic/%.o)
LAB_AGENT_OBJ := $(LAB_AGENT_SRC:%.c=$(BUILD)/pic/%.o)
START_OBJ := $(START_SRC:%.c=$(BUILD)/pic/%.o)
PLUGIN_OBJ := $(PLUGIN_SRC:%.c=$(BUILD)/pic/%.o)
PLACEMENT_OBJ := $(PLACEMENT_SRC:%.c=$(BUILD)/pic/%.o)
TOOL_OBJ  := $(TOOL_SRC:%.c=$(BUILD)/pic/%.o)
MEMTRACE_OBJ := $(MEMTRACE_SRC:%.c=$(BUILD)/pic/%.o)
UNIT_BIN  := $(UNIT_SRC:%.c=$(BUILD)/%)

# 'make V=1' shows the commands.
Q = $(if $(V),,@$(if $(1),echo '  $(1) $@';))

.PHONY: make
make: $(BUILD)/mmprof $(OTHERS) $(BUILD)/libmmprof-agent.so $(BUILD)/libmmprof-lab-agent.so $(BUILD)/libmmprof-start.so $(BUILD)/libmmprof-sim.so $(BUILD)/libmmprof-tool.so $(BUILD)/libmmprof-memtrace.so $(BUILD)/libmmprof-placement.so $(EXAMPLES)

# A program is its main and what that needs of the others; the linker's map says what that is.
PROGRAMS_LIB := $(BUILD)/programs.a
$(PROGRAMS_LIB): $(LIB_OBJ) Makefile
	@rm -f $@
	$(call Q,AR)$(AR) rcsT $@ $(LIB_OBJ)

$(BUILD)/mmprof: $(BUILD)/cmd/main.o
$(LIBEXEC)/mmprof-lab: $(BUILD)/cmd/lab/lab_main.o $(BUILD)/cmd/lab/lab_parts.o
$(LIBEXEC)/mmprof-fleet: $(BUILD)/cmd/fleet/fleet_main.o
$(LIBEXEC)/mmprof-mcp: $(BUILD)/cmd/mcp/mcp_main.o
$(LIBEXEC)/mmprof-mcp: CLI_LIBS := -lcjson -lm
$(BUILD)/mmprof $(addprefix $(LIBEXEC)/mmprof-,lab fleet mcp): $(PROGRAMS_LIB)
	@mkdir -p $(@D)
	$(call Q,LINK)$(CC) $(LDFLAGS_ALL) -Wl,-Map=$(BUILD)/$(@F).map -o $@ $(filter %.o,$^) $(filter %.a,$^) $(CLI_LIBS)

$(addprefix $(LIBEXEC)/mmprof-,$(LAB_NAMES)): $(LIBEXEC)/mmprof-lab
	@ln -sf mmprof-lab $@

# A program that needs no library.  Debian has all of them as archives but cJSON, which is compiled from its source then:
# make static CJSON=DIR, where 'apt-get source cjson' has left cJSON.c.
CJSON ?=
STATIC_LIBS := -ldw -lelf $(if $(CJSON),,-lcjson) -lbz2 -llzma -lz -lm -lpthread

.PHONY: static
static: $(BUILD)/mmprof-static $(patsubst $(BUILD)/%,$(BUILD)/static/%,$(OTHERS))

$(BUILD)/cJSON.o: $(CJSON)/cJSON.c
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(CFLAGS) -c -o $@ $<

$(BUILD)/mmprof-static: $(BUILD)/cmd/main.o
$(BUILD)/static/libexec/mmprof/mmprof-lab: $(BUILD)/cmd/lab/lab_main.o $(BUILD)/cmd/lab/lab_parts.o
$(BUILD)/static/libexec/mmprof/mmprof-fleet: $(BUILD)/cmd/fleet/fleet_main.o
$(BUILD)/static/libexec/mmprof/mmprof-mcp: $(BUILD)/cmd/mcp/mcp_main.o
$(BUILD)/mmprof-static $(addprefix $(BUILD)/static/libexec/mmprof/mmprof-,lab fleet mcp): $(PROGRAMS_LIB) $(if $(CJSON),$(BUILD)/cJSON.o)
	@mkdir -p $(@D)
	$(call Q,LINK)$(CC) $(LDFLAGS_ALL) -static -o $@ $(filter %.o,$^) -Wl,-u,pfm_initialize -lpfm $(filter %.a,$^) $(STATIC_LIBS)

$(addprefix $(BUILD)/static/libexec/mmprof/mmprof-,$(LAB_NAMES)): $(BUILD)/static/libexec/mmprof/mmprof-lab
	@ln -sf mmprof-lab $@

# initial-exec TLS: a probe finds its buffer in one instruction.
$(BUILD)/libmmprof-agent.so: $(AGENT_OBJ)
$(BUILD)/libmmprof-lab-agent.so: $(LAB_AGENT_OBJ)
$(BUILD)/libmmprof-agent.so $(BUILD)/libmmprof-lab-agent.so:
	$(call Q,LINK)$(CC) $(LDFLAGS_ALL) -shared -Wl,-z,defs -Wl,-z,nodelete -Wl,-Map=$(BUILD)/$(@F).map -o $@ $^ -lpthread

$(BUILD)/libmmprof-start.so: $(START_OBJ)
	$(call Q,LINK)$(CC) $(LDFLAGS_ALL) -shared -Wl,-z,defs -o $@ $^

$(BUILD)/libmmprof-sim.so: $(PLUGIN_OBJ)
	$(call Q,LINK)$(CC) $(LDFLAGS_ALL) -shared -o $@ $^ -lpthread

$(BUILD)/libmmprof-tool.so: $(TOOL_OBJ)
	$(call Q,LINK)$(CC) $(LDFLAGS_ALL) -shared -o $@ $^ -lpthread

$(BUILD)/libmmprof-memtrace.so: $(MEMTRACE_OBJ)
	$(call Q,LINK)$(CC) $(LDFLAGS_ALL) -shared -Wl,-z,defs -o $@ $^ -lz

$(BUILD)/libmmprof-placement.so: $(PLACEMENT_OBJ)
	$(call Q,LINK)$(CC) $(LDFLAGS_ALL) -shared -o $@ $^ -lpthread

# As a user builds one.
$(BUILD)/example_%.so: core/emu/tool/examples/example_%.c core/emu/tool/mmprof_tool.h
	@mkdir -p $(@D)
	$(call Q,TOOL)$(CC) -std=c11 $(WARN) $(CFLAGS) $(SANITIZE_FLAGS) -Icore/emu/tool -shared -fPIC -o $@ $<

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# The page of 'mmprof report --html': one file, as the bytes of an array.
PAGE_JS := $(patsubst %,report/html/%.js,base table span phases marks timeline regions parts ip_samples values tree flame_graphs flame diff fleet tables calls sweep about summary page_main)

$(BUILD)/report/html_template.html: report/html/page.html report/html/style.css $(PAGE_JS)
	@mkdir -p $(@D)
	$(call Q,PAGE)sed -e '/@STYLE@/{r report/html/style.css' -e 'd}' \
	    -e '/@SCRIPT@/{$(foreach js,$(PAGE_JS),r $(js)' -e ')d}' $< > $@

$(BUILD)/report/html_template.o: $(BUILD)/report/html_template.html
	@{ echo 'extern const unsigned char html_template[]; const unsigned char html_template[] = {' && \
	    od -An -v -t x1 $< | sed 's/ \(..\)/0x\1,/g' && echo '0 };'; } > $(@:.o=.c)
	$(call Q,CC)$(CC) $(ALL_CFLAGS) -c -o $@ $(@:.o=.c)

# The list of frameworks and that of mcp's tools, likewise.
$(BUILD)/report/frameworks_text.o: report/frameworks.txt
$(BUILD)/cmd/mcp/mcp_tools_text.o: cmd/mcp/mcp_tools.json
$(BUILD)/report/frameworks_text.o $(BUILD)/cmd/mcp/mcp_tools_text.o:
	@mkdir -p $(@D)
	@{ echo 'extern const unsigned char $(basename $(@F))[]; const unsigned char $(basename $(@F))[] = {' && \
	    od -An -v -t x1 $< | sed 's/ \(..\)/0x\1,/g' && echo '0 };'; } > $(@:.o=.c)
	$(call Q,CC)$(CC) $(ALL_CFLAGS) -c -o $@ $(@:.o=.c)

$(BUILD)/pic/%.o: %.c
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(ALL_CFLAGS) $(JVMTI) -fPIC -fvisibility=hidden -ftls-model=initial-exec -c -o $@ $<

# ---- tests ----

# A unit test is one file that is linked with all rooms, and with the agent's parts that need no JVM.
AGENT_PURE_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard core/agent/rewrite/*.c core/agent/probe/*.c) $(addprefix core/agent/,control/method_ids.c control/agent_lab_none.c \
                  codecache/compiling.c codecache/own_vm.c codecache/perf_file.c))
$(patsubst %.c,$(BUILD)/%.o,$(wildcard core/agent/probe/*.c)) $(patsubst %,$(BUILD)/core/agent/%.o,control/method_ids control/agent_lab_none codecache/code_dependents) $(patsubst %,$(BUILD)/test/unit/%_test.o,code_dependents method_ids open_calls probe probe_virtual readings_rings ring_memory): ALL_CFLAGS += $(JVMTI)

# The plugin's walk through a heap, which is the test's.
$(BUILD)/test/unit/heap_walk_test: $(patsubst %,$(BUILD)/core/emu/plugin/%.o,heap_walk vm_classes vm_memory)

# What QEMU has of its threads.
$(BUILD)/test/unit/qemu_flags_test: $(BUILD)/core/emu/plugin/qemu_flags.o
$(BUILD)/test/unit/qemu_stale_test: $(BUILD)/core/emu/plugin/qemu_stale.o

# The objects that tools hear of.
$(BUILD)/test/unit/tool_objects_test: $(patsubst %,$(BUILD)/core/emu/%.o,tool/tool_objects plugin/vm_memory)
$(BUILD)/test/unit/tool_calls_test: $(BUILD)/core/emu/tool/tool_calls.o

# The caches that tools may call.
$(BUILD)/test/unit/tool_model_test: $(BUILD)/core/emu/tool/tool_model.o

# The JVM's code and methods are the test's.
$(BUILD)/test/unit/code_dependents_test: $(BUILD)/core/agent/codecache/code_dependents.o

# What they ask is of a libjvm.so that they fill.
$(BUILD)/test/unit/code_heaps_test $(BUILD)/test/unit/compiling_test: $(BUILD)/test/unit/jvm/libjvm.so
$(BUILD)/test/unit/code_heaps_test $(BUILD)/test/unit/compiling_test: LDFLAGS_ALL += -Wl,-rpath,'$$ORIGIN/jvm'

$(BUILD)/test/unit/jvm/libjvm.so: $(BUILD)/pic/test/unit/jvm/structures.o
	@mkdir -p $(@D)
	$(call Q,LINK)$(CC) $(LDFLAGS) $(SANITIZE_FLAGS) -shared -Wl,-soname,libjvm.so -o $@ $^

# A test's own functions come before those of the archive.
$(LIB): $(LIB_OBJ) $(AGENT_PURE_OBJ)
	@rm -f $@
	$(call Q,AR)$(AR) rcs $@ $^

$(BUILD)/test/unit/%: $(BUILD)/test/unit/%.o $(LIB)
	$(call Q,LINK)$(CC) $(LDFLAGS_ALL) -o $@ $(filter-out %.a %.so,$^) $(filter %.a %.so,$^) $(CLI_LIBS)

# The agent's connection, commands and methods, whose JVM is the test.
AGENT_STRESS_OBJ := $(patsubst %,$(BUILD)/core/agent/%.o,commands control/control instrument/methods $(addprefix codecache/,code_asked code_dependents code_out compile_methods))
$(BUILD)/test/unit/agent_stress_test: $(AGENT_STRESS_OBJ)
$(AGENT_STRESS_OBJ) $(BUILD)/test/unit/agent_stress_test.o: ALL_CFLAGS += $(JVMTI)

# A bench in C is one file too.
$(BUILD)/test/bench/%: $(BUILD)/test/bench/%.o $(LIB)
	$(call Q,LINK)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(CLI_LIBS)

# Plugins of QEMU, which has their functions, and a tool of memtrace's.
BENCH_LIBS := $(patsubst %,$(BUILD)/test/bench/%.so,executed callbacks idle_tool)
$(BENCH_LIBS): $(BUILD)/test/bench/%.so: $(BUILD)/pic/test/bench/%.o
	@mkdir -p $(@D)
	$(call Q,LINK)$(CC) $(LDFLAGS_ALL) -shared -o $@ $^

.PHONY: unit
unit: $(UNIT_BIN)

# Programs of the tests that read traces.
TOOL_BIN := $(patsubst %.c,$(BUILD)/%,$(filter-out %_agent.c,$(wildcard test/tools/*.c))) $(patsubst %.c,$(BUILD)/%.so,$(wildcard test/tools/*_agent.c))

$(BUILD)/test/tools/%: $(BUILD)/test/tools/%.o $(LIB)
	$(call Q,LINK)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(CLI_LIBS)

# Some are loaded into programs.
$(BUILD)/test/tools/%_agent.so: $(BUILD)/pic/test/tools/%_agent.o
	@mkdir -p $(@D)
	$(call Q,LINK)$(CC) $(LDFLAGS) -shared -o $@ $^ -lpthread

# An agent that compares the code that it reads with the code that the JVM's events tell of.
CHECKED_AGENT := $(BUILD)/test/agent/libmmprof-agent.so
$(CHECKED_AGENT): $(filter-out %/code_check_none.o,$(AGENT_OBJ)) $(BUILD)/pic/test/agent/code_check.o
	@mkdir -p $(@D)
	$(call Q,LINK)$(CC) $(LDFLAGS_ALL) -shared -Wl,-z,defs -Wl,-z,nodelete -o $@ $^ -lpthread

# A simulator that compares what it foresees of loads and stores with what QEMU tells of them.
CHECKED_PLUGIN := $(BUILD)/test/emu/libmmprof-sim.so
$(CHECKED_PLUGIN): $(filter-out %/sim_check_none.o,$(PLUGIN_OBJ)) $(BUILD)/pic/test/emu/sim_check.o
	@mkdir -p $(@D)
	$(call Q,LINK)$(CC) $(LDFLAGS_ALL) -shared -o $@ $^ -lpthread

# Benches are not run by tests; that they go on compiling is known so.
BENCH_BIN := $(patsubst %,$(BUILD)/test/bench/%,calltree_bench encode_bench context_bench live_bench walk_bench code_lookup \
    diff_power)

.PHONY: tools
tools: $(TOOL_BIN) $(CHECKED_AGENT) $(CHECKED_PLUGIN) $(BENCH_BIN)

# The Java programs that the tests, the demo and the benches run.
JAVA_SRC = $(wildcard test/java/micro/*.java test/java/target/*.java test/java/pmu/*.java test/java/demo/*.java test/java/bench/*.java) $(BUILD)/test/java-made/micro/BigCode.java

.PHONY: java
java: $(BUILD)/test/java/.made $(BUILD)/test/java/libmicronatives.so

$(BUILD)/test/java/.made: $(JAVA_SRC)
	@mkdir -p $(@D)
	$(call Q,JAVAC)$(JDK)/bin/javac --release 17 -g -Xlint:all -Werror -d $(@D) $(JAVA_SRC)
	@touch $@

$(BUILD)/test/java-made/micro/BigCode.java: test/java/tools/GenBig.java
	@mkdir -p $(@D)
	$(call Q,JAVA)$(JDK)/bin/java $< $@

$(BUILD)/test/java/libmicronatives.so: test/java/micro/natives.c
	@mkdir -p $(@D)
	$(call Q,LINK)$(CC) -O2 -g -Wall -shared -fPIC $(JVMTI) -o $@ $<

# First what tries each command on each JDK: what comes last is not begun where time is short.
E2E_FIRST := test/e2e/releases.sh
E2E   := $(E2E_FIRST) $(filter-out $(E2E_FIRST),$(wildcard test/e2e/*.sh))
FAULTS := $(wildcard test/faults/*.sh)
STATIC := $(patsubst %,test/e2e/%.sh,rooms names manual lint runner)
AGAIN := $(MAKE) --no-print-directory

# What says '# long: yes' in its first lines is for check-all.
LONG := $(shell grep -lx '\# long: yes' $(E2E) $(FAULTS))

.PHONY: check check-here check-all check-all-here check-quick
check: deps
	@+$(AGAIN) check-here

check-here: make unit tools java
	@BUILD='$(BUILD)' TEST_BESIDE=1 test/run $(UNIT_BIN) $(filter-out $(LONG),$(E2E) $(FAULTS))

check-all: deps
	@+$(AGAIN) check-all-here

check-all-here: make unit tools java
	@BUILD='$(BUILD)' TEST_BESIDE=1 test/run $(UNIT_BIN) $(E2E) $(FAULTS)

# Without a JVM: the unit tests and what is said about the sources.
check-quick: make unit
	@BUILD='$(BUILD)' test/run $(UNIT_BIN) $(STATIC)

# What 'check-all' does in short, at length: an hour.
.PHONY: check-faults
check-faults: make unit tools java
	@BUILD='$(BUILD)' FAULTS_LONG=1 REWRITE_SEEDS='1 2 3' test/run -v $(FAULTS) test/e2e/rewrite_jdk.sh test/e2e/depot.sh

# In an emulated machine that has a PMU: test/pmu/machine.bash.  Not part of 'check-all': it takes minutes and a download.
# What cannot be installed or downloaded here is skipped, and what would not end within PMU_SECONDS.
PMU_ALL     ?=
PMU_SECONDS ?= $(if $(PMU_ALL),10800,1200)
PMU_LAST := $(addprefix test/pmu/,unit.sh aarch64.sh aarch64_all.sh)
PMU := test/pmu/setup.sh $(filter-out %/setup.sh $(PMU_LAST),$(wildcard test/pmu/*.sh)) $(PMU_LAST)

.PHONY: check-pmu
check-pmu:
	-@.ci/deps.sh pmu
	@BUILD='$(BUILD)' PMU_ALL='$(PMU_ALL)' MACHINE_TRIED=1 RUN_SECONDS=$(PMU_SECONDS) test/run $(PMU)

.PHONY: check-asan check-tsan check-unit fuzz
check-asan:
	@+$(AGAIN) BUILD=$(BUILD)/asan SANITIZE=address,undefined CFLAGS='-O1 -g' check-unit

# Those unit tests that start threads.
TSAN_SRC = $(shell grep -lE 'pthread_create|thrd_create' $(UNIT_SRC) /dev/null)
check-tsan:
	@+$(AGAIN) BUILD=$(BUILD)/tsan SANITIZE=thread CFLAGS='-O1 -g' UNIT_SRC='$(TSAN_SRC)' check-unit

check-unit: unit
	@$(if $(UNIT_BIN),test/run $(UNIT_BIN),echo 'no unit test for it'; echo '0 passed, 0 failed, 1 skipped')

# A fuzz target is linked like a unit test, by clang.
$(BUILD)/test/fuzz/%_fuzz: $(BUILD)/test/fuzz/%_fuzz.o $(LIB)
	$(call Q,LINK)$(CC) $(LDFLAGS_ALL) -fsanitize=fuzzer -o $@ $(filter-out %.a,$^) $(filter %.a,$^) $(CLI_LIBS)

# Each test/fuzz/NAME_fuzz.c for FUZZ_SECONDS.
FUZZ_SECONDS ?= 10
fuzz:
	@FUZZ_SECONDS=$(FUZZ_SECONDS) BUILD='$(BUILD)' test/run test/fuzz/fuzz.sh

# Which changes of single operators and constants the unit tests do not notice: MUTANTS in each folder of FILES.
FILES   ?= $(wildcard core/trace/*.c core/recorder/*.c phases/*/*.c)
MUTANTS ?= 60
SEED    ?= 1
.PHONY: mutants
mutants:
	@CC='$(CC)' test/mutants.py -n $(MUTANTS) -s $(SEED) $(FILES)

.PHONY: bench
bench: make tools java
	@BUILD='$(BUILD)' JDK='$(JDK)' UFTRACE='$(UFTRACE)' test/bench/bench.sh

# This build beside that of another revision.
REV ?=
.PHONY: bench-compare
bench-compare: make tools java
	@BUILD='$(BUILD)' JDK='$(JDK)' CC='$(CC)' REV='$(REV)' test/bench/compare.sh

# Findings of programs without a fault.
.PHONY: bench-healthy
bench-healthy: make
	@BUILD='$(BUILD)' MMPROF_JDK_ROOT='$(MMPROF_JDK_ROOT)' test/bench/healthy.sh

# How costs grow with records, methods and threads.
.PHONY: bench-growth
bench-growth: make tools java
	@BUILD='$(BUILD)' JDK='$(JDK)' test/bench/growth.sh

# What recording costs programs: those that WORKLOADS/commands names, or those of the tests.
WORKLOADS ?=
.PHONY: bench-overhead
bench-overhead: make tools java
	@BUILD='$(BUILD)' JDK='$(JDK)' WORKLOADS='$(WORKLOADS)' test/bench/overhead.sh

# Likewise live with several builds at once: directories with an mmprof each.
BUILDS ?= $(BUILD)
.PHONY: bench-builds
bench-builds: make tools
	@BUILD='$(BUILD)' JDK='$(JDK)' WORKLOADS='$(WORKLOADS)' BUILDS='$(BUILDS)' test/bench/builds.sh

# What attaching costs JVMs that are warm.
.PHONY: bench-attached
bench-attached: make tools java
	@BUILD='$(BUILD)' JDK='$(JDK)' WORKLOADS='$(WORKLOADS)' test/bench/attached.sh

# What a recording costs a service that waits most of its time.
.PHONY: bench-service
bench-service: make tools java
	@BUILD='$(BUILD)' bash -c '. test/lib.sh && test/bench/service_cost.py "$$mmprof" "$$classes" $$(jdks)'

# How long programs stand still while they are attached to, changed and left.
.PHONY: bench-pauses
bench-pauses: make java
	@BUILD='$(BUILD)' WORKLOADS='$(WORKLOADS)' bash -c '. test/lib.sh && test/bench/pauses.py "$$mmprof" "$$classes" $$(jdks)'

# What recording makes programs execute, in instructions.
.PHONY: bench-instructions
bench-instructions: make java $(BUILD)/test/bench/executed.so
	@BUILD='$(BUILD)' JDK='$(JDK)' WORKLOADS='$(WORKLOADS)' test/bench/instructions.sh

# What diff finds of a change, and what it finds without one.
.PHONY: bench-diff
bench-diff: make java $(BUILD)/test/bench/diff_power
	@BUILD='$(BUILD)' JDK='$(JDK)' test/bench/diff_power.sh

# What stack samples cost a program that computes, beside async-profiler.
.PHONY: bench-sampling
bench-sampling: make java
	@BUILD='$(BUILD)' JDK='$(JDK)' ASPROF='$(ASPROF)' WORKLOADS='$(WORKLOADS)' test/bench/sampling.sh

# Whether one live recording finds the phases that two runs find.
.PHONY: bench-agreement
bench-agreement: make tools
	@BUILD='$(BUILD)' JDK='$(JDK)' WORKLOADS='$(WORKLOADS)' test/bench/agreement.sh

# Whether live recordings have the phases that programs announce.
.PHONY: bench-truth
bench-truth: make tools java
	@BUILD='$(BUILD)' JDK='$(JDK)' WORKLOADS='$(WORKLOADS)' test/bench/announced.sh

# How accurate stack samples are: beside JFR's, and by what takes them.
.PHONY: bench-jfr bench-design bench-exact
bench-jfr: make
	@BUILD='$(BUILD)' WORKLOADS='$(WORKLOADS)' test/bench/jfr.sh
bench-design: make
	@BUILD='$(BUILD)' WORKLOADS='$(WORKLOADS)' test/bench/design_space.sh
bench-exact: make
	@BUILD='$(BUILD)' WORKLOADS='$(WORKLOADS)' test/bench/exact.sh

# Whether samples drive the JIT compilers better than the JVM does.
.PHONY: bench-fleet
bench-fleet: make tools
	@BUILD='$(BUILD)' test/bench/fleet.sh

.PHONY: bench-drive
bench-drive: make tools
	@BUILD='$(BUILD)' WORKLOADS='$(WORKLOADS)' test/bench/drive.sh

# What they take of a program with 500 threads and 50,000 methods.
.PHONY: bench-memory
bench-memory: make
	@BUILD='$(BUILD)' JDK='$(JDK)' test/bench/memory.sh

# What simulation costs programs, beside cachegrind.
.PHONY: bench-simulate
bench-simulate: make tools java $(BUILD)/test/bench/callbacks.so
	@BUILD='$(BUILD)' JDK='$(JDK)' WORKLOADS='$(WORKLOADS)' test/bench/simulate_cost.sh

# What it costs to tell a tool of each access.
.PHONY: bench-memtrace
bench-memtrace: make tools java $(BUILD)/test/bench/callbacks.so $(BUILD)/test/bench/idle_tool.so
	@BUILD='$(BUILD)' JDK='$(JDK)' WORKLOADS='$(WORKLOADS)' test/bench/memtrace_cost.sh

.PHONY: demo demo-here
demo: deps
	@+$(AGAIN) demo-here

# The profile stays in $(BUILD)/demo.
demo-here: make java
	@mkdir -p $(BUILD)/demo
	$(BUILD)/mmprof profile --two-runs -o $(BUILD)/demo -- \
	    $(JDK)/bin/java -Xmx1g -cp $(BUILD)/test/java demo.JavacDemo $(JDK)/lib/src.zip 2

# ---- DuckDB, which 'mmprof fleet' asks: its shared library, as npm has it, beside mmprof ----

DUCKDB_VERSION := 1.5.6-r.1
DUCKDB_ARCH    := $(if $(filter aarch64,$(shell uname -m)),arm64,x64)
DUCKDB_SHA256_x64   := 1b9f82478539bb9a1d1df44bd103121a12ae52142c07158dc52b97d2ec1d69ff
DUCKDB_SHA256_arm64 := 3a45a6305b3235a781ed9de25aa795a3862acd042782d1f864e1bdb656de212b
DUCKDB_PACKAGE := duckdb-node-bindings-linux-$(DUCKDB_ARCH)-$(DUCKDB_VERSION).tgz

.PHONY: duckdb
duckdb: $(BUILD)/libduckdb.so

$(BUILD)/libduckdb.so:
	@mkdir -p $(BUILD)/duckdb
	cd $(BUILD)/duckdb && npm pack --silent @duckdb/node-bindings-linux-$(DUCKDB_ARCH)@$(DUCKDB_VERSION)
	cd $(BUILD)/duckdb && echo "$(DUCKDB_SHA256_$(DUCKDB_ARCH))  $(DUCKDB_PACKAGE)" | sha256sum --check --quiet
	tar -xzf $(BUILD)/duckdb/$(DUCKDB_PACKAGE) -C $(BUILD)/duckdb package/libduckdb.so
	mv $(BUILD)/duckdb/package/libduckdb.so $@

# A Debian root with the other JDKs, for test/e2e/releases.sh: as root, some minutes and 2 GB.
MMPROF_JDK_ROOT ?= $(abspath $(BUILD))/jdks
.PHONY: jdks
jdks:
	test/tools/jdks.sh '$(MMPROF_JDK_ROOT)'

# ---- taste ----

.PHONY: format lint tidy
format:
	clang-format -i $$(find . \( -path ./build -o -path ./.git \) -prune -o -name '*.[ch]' -print)

lint:
	@BUILD='$(BUILD)' test/run test/e2e/lint.sh test/e2e/names.sh

tidy:
	clang-tidy --quiet $(CLI_SRC) $(LAB_AGENT_SRC) -- $(CSTD) -I. $(JVMTI)

# ---- the machine ----

# Debian packages that are missing are installed, if need be with sudo.
.PHONY: deps
deps:
	@.ci/deps.sh

BIN_DIR   = $(DESTDIR)$(PREFIX)/bin
AGENT_DIR = $(DESTDIR)$(PREFIX)/lib/mmprof
LIBEXEC_DIR = $(DESTDIR)$(PREFIX)/libexec/mmprof
INCLUDE_DIR = $(DESTDIR)$(PREFIX)/include
MAN_DIR   = $(DESTDIR)$(PREFIX)/share/man
DOC_DIR   = $(DESTDIR)$(PREFIX)/share/doc/mmprof

.PHONY: install uninstall
install: make
	install -d '$(BIN_DIR)' '$(AGENT_DIR)' '$(LIBEXEC_DIR)' '$(MAN_DIR)/man1' '$(MAN_DIR)/man5' '$(MAN_DIR)/man7' '$(DOC_DIR)' '$(INCLUDE_DIR)'
	install -m 755 $(BUILD)/mmprof '$(BIN_DIR)'
	install -m 755 $(addprefix $(LIBEXEC)/mmprof-,lab fleet mcp) '$(LIBEXEC_DIR)'
	@for name in $(LAB_NAMES); do ln -sf mmprof-lab '$(LIBEXEC_DIR)'/mmprof-$$name; done
	install -m 755 $(addprefix $(BUILD)/libmmprof-,agent.so lab-agent.so start.so sim.so tool.so memtrace.so placement.so) '$(AGENT_DIR)'
	install -m 644 core/emu/tool/mmprof_tool.h '$(INCLUDE_DIR)'
	install -m 644 $(wildcard man/*.1) '$(MAN_DIR)/man1'
	$(if $(wildcard man/*.5),install -m 644 $(wildcard man/*.5) '$(MAN_DIR)/man5')
	$(if $(wildcard man/*.7),install -m 644 $(wildcard man/*.7) '$(MAN_DIR)/man7')
	install -m 644 README.md LICENSE report/fleet/grafana_dashboard.json report/agents.schema.json core/agent/Marks.java '$(DOC_DIR)'
	install -m 644 $(wildcard core/emu/tool/examples/*.c) '$(DOC_DIR)'

.PHONY: package
package: make
	@MAKE='$(MAKE)' .ci/package.sh '$(BUILD)' '$(VERSION)'

uninstall:
	rm -f '$(BIN_DIR)/mmprof' '$(INCLUDE_DIR)/mmprof_tool.h' $(foreach page,$(notdir $(wildcard man/*.1)),'$(MAN_DIR)/man1/$(page)') \
	    $(foreach page,$(notdir $(wildcard man/*.5)),'$(MAN_DIR)/man5/$(page)') \
	    $(foreach page,$(notdir $(wildcard man/*.7)),'$(MAN_DIR)/man7/$(page)')
	rm -rf '$(AGENT_DIR)' '$(LIBEXEC_DIR)' '$(DOC_DIR)'

.PHONY: clean
clean:
	rm -rf $(BUILD)

.PHONY: help
help:
	@echo 'make              build $(BUILD)/mmprof, the programs that it starts, and the agents'
	@echo 'make check        install what is missing, build, run the unit tests and those of each command (8 minutes)'
	@echo 'make check-all    likewise with all tests that need no PMU (20 minutes)'
	@echo 'make check-quick  the tests that need no JVM'
	@echo 'make check-asan   unit tests with AddressSanitizer and UndefinedBehaviorSanitizer'
	@echo 'make check-tsan   unit tests that start threads, with ThreadSanitizer'
	@echo 'make check-pmu    what needs hardware counters, in an emulated machine (200 MB to download, once)'
	@echo '                  with PMU_ALL=1 also all other tests, on aarch64 (an hour or two)'
	@echo 'make check-faults kills, crashes, full disks, load, containers: man/mmprof-faults.7 (an hour)'
	@echo 'make mutants      change operators in FILES: which changes do the unit tests not notice?'
	@echo 'make fuzz         fuzz each decoder for FUZZ_SECONDS ($(FUZZ_SECONDS))'
	@echo 'make bench        what a probe and a record cost, next to uftrace: UFTRACE=FILE'
	@echo 'make bench-compare   what records, traces and tables cost in this build and in that of revision REV'
	@echo 'make bench-fleet     what questions to a thousand JVMs take, and what they find'
	@echo 'make bench-growth    how costs grow with records, methods, threads, classes'
	@echo 'make bench-healthy   what is found in programs without a fault: HEALTHY_RECORDINGS=N, as test/bench/healthy.sh says'
	@echo 'make bench-overhead  what recording costs programs: WORKLOADS=DIR, as test/bench/overhead.sh says'
	@echo 'make bench-builds    what a live recording costs with one build and with others: BUILDS="DIR ..."'
	@echo 'make bench-attached  what a live recording costs JVMs that are warm'
	@echo 'make bench-service   what a live recording costs a service that waits most of its time'
	@echo 'make bench-pauses    how long recordings stop programs, by the clock and by what they need'
	@echo 'make bench-instructions  what recording makes programs execute'
	@echo 'make bench-diff      what diff finds of 10 % more in one phase, and what it finds that is not there'
	@echo 'make bench-sampling  what stack samples cost programs, beside async-profiler: ASPROF=FILE'
	@echo 'make bench-jfr       how far stack samples and those of JFR agree'
	@echo 'make bench-design    how accurate and stable the ways to sample are'
	@echo 'make bench-exact     whether stack samples have the shares that probes measure'
	@echo 'make bench-memory    how much memory stack samples of a large program take'
	@echo 'make bench-truth  whether live recordings have the phases that programs announce'
	@echo 'make bench-simulate  what --simulate costs programs, beside cachegrind'
	@echo 'make bench-memtrace  what it costs to tell a tool of each access, by line and by object'
	@echo 'make demo         profile javac on a few hundred source files'
	@echo 'make install      into $$(DESTDIR)$$(PREFIX) ($(PREFIX)); make uninstall removes it'
	@echo 'make package      a Debian package of the same, in $(BUILD)'
	@echo 'make static       the programs alone, without shared libraries: CJSON=DIR, with the source of cJSON'
	@echo 'make jdks         JDK 8 to 28 of Debian, in a root for tests (MMPROF_JDK_ROOT=DIR; as root, 1.5 GB)'
	@echo 'make duckdb       DuckDB'"'"'s library, which mmprof fleet asks, from npm'
	@echo 'make deps         install the Debian packages that are missing'
	@echo 'make lint         looks only; make format runs clang-format, make tidy clang-tidy'
	@echo 'CC, CFLAGS, LDFLAGS, BUILD, SANITIZE, JDK are what they are everywhere; V=1 shows the commands.'

.SECONDARY:
-include $(shell find $(BUILD) \( -name 'pmu-machine*' -o -name jdks \) -prune -o -type f -name '*.d' -print 2>/dev/null)
