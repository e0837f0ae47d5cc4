# mmprof: 'make demo' shows it, 'make check' tests it; 'make help' lists the rest.

CC       ?= cc
BUILD    ?= build
PREFIX   ?= /usr/local
VERSION  := 0.1.0
SANITIZE ?=

CSTD     := -std=c11 -D_GNU_SOURCE -DMMPROF_VERSION='"$(VERSION)"'
WARN     := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Werror
CFLAGS   ?= -O2 -g
ALL_CFLAGS := $(CSTD) $(WARN) $(CFLAGS) -I. -MMD -MP $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer)
LDFLAGS_ALL := $(LDFLAGS) $(if $(SANITIZE),-fsanitize=$(SANITIZE))
CLI_LIBS := -lpfm -lcjson -lelf -ldw -lz -lm -lpthread

# The JVM's headers (jvmti.h) come from any JDK; nothing of it is linked.
JDK      ?= $(patsubst %/include/jvmti.h,%,$(firstword $(wildcard /usr/lib/jvm/java-17-openjdk-*/include/jvmti.h /usr/lib/jvm/*/include/jvmti.h)))
JVMTI    := -isystem $(JDK)/include -isystem $(JDK)/include/linux

# What runs inside the target: libc and libpthread only.
AGENT_SRC := $(wildcard core/agent/*.c) core/base/err.c core/counters/read.c
CLI_SRC   := $(wildcard cmd/*.c) $(filter-out core/agent/%,$(wildcard core/*/*.c)) $(wildcard symbolize/*.c phases/*.c report/*.c)
LIB_SRC   := $(filter-out cmd/main.c,$(CLI_SRC))
UNIT_SRC  := $(wildcard test/unit/*.c)

CLI_OBJ   := $(CLI_SRC:%.c=$(BUILD)/%.o)
LIB_OBJ   := $(LIB_SRC:%.c=$(BUILD)/%.o)
AGENT_OBJ := $(AGENT_SRC:%.c=$(BUILD)/pic/%.o)
UNIT_BIN  := $(UNIT_SRC:%.c=$(BUILD)/%)

.PHONY: make
make: $(BUILD)/mmprof $(BUILD)/libmmprof-agent.so

$(BUILD)/mmprof: $(CLI_OBJ)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(CLI_LIBS)

# initial-exec TLS: a probe finds its buffer in one instruction.
$(BUILD)/libmmprof-agent.so: $(AGENT_OBJ)
	$(CC) $(LDFLAGS_ALL) -shared -Wl,-z,defs -Wl,-z,nodelete -o $@ $^ -lpthread

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(BUILD)/pic/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(JVMTI) -fPIC -fvisibility=hidden -ftls-model=initial-exec -c -o $@ $<

# A unit test is one file that is linked with all rooms, and with the agent's parts that need no JVM.
AGENT_PURE_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard core/agent/rewrite*.c core/agent/classfile*.c core/agent/bytecode*.c))

$(BUILD)/test/unit/%: $(BUILD)/test/unit/%.o $(LIB_OBJ) $(AGENT_PURE_OBJ)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(CLI_LIBS)

.PHONY: unit
unit: $(UNIT_BIN)

.PHONY: clean
clean:
	rm -rf $(BUILD)

.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
