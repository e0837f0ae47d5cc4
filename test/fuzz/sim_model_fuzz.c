/* A model's file is the user's: any bytes.  What is accepted can be simulated, and prints as it is read. */
#include "core/emu/model/sim_machine.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void simulate(const struct sim_model *model)
{
    uint64_t counts[SIM_N_COUNTS] = { 0 };
    struct sim_machine machine;
    size_t n_bytes = sim_machine_bytes(model);
    void *memory = n_bytes > 1 << 20 ? NULL : malloc(n_bytes);
    if (memory == NULL)
        return;
    sim_machine_init(&machine, model, memory, counts);
    for (uint64_t i = 0; i < 500; i++) {
        uint64_t at = i * i * 1237;
        sim_machine_fetch(&machine, at, 40, 9);
        sim_machine_load(&machine, at ^ i << 5, 8);
        sim_machine_store(&machine, at >> 3, 16);
        sim_machine_branch(&machine, (enum sim_branch_kind)(i % 6), at, at + 2, at % 7 == 0 ? at + 2 : at * 3);
    }
    free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct sim_model model, again;
    struct err err;
    char text[SIM_TEXT_BYTES];
    if (sim_model_read((const char *)bytes, n, "m", &model, &err) < 0)
        return 0;
    sim_model_print(&model, text, sizeof text);
    if (sim_model_read(text, strlen(text), "m", &again, &err) < 0 || memcmp(&model, &again, sizeof model) != 0)
        abort();
    simulate(&model);
    return 0;
}
