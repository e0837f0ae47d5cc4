#include "cmd/lab/lab_command.h"
#include "cmd/parts.h"

const struct program_parts parts = { .simulate = simulated_recording,
                                     .models = simulated_models,
                                     .misses_view = misses_view,
                                     .fields_view = fields_view,
                                     .fields_of_page = fields_of_page,
                                     .advise_memory = advise_memory };
