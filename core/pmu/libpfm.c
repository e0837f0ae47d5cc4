/*
 * libpfm4, loaded when an event is looked up: its tables take 41,000 relocations, which is 9 ms of each command's
 * start. A static program has the library's own functions instead of these (Makefile).
 */
#include "core/base/std.h"

#include <dlfcn.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

#define PFM_FILE "libpfm.so.4"

static struct {
    __typeof__(&pfm_initialize) initialize;
    __typeof__(&pfm_strerror) strerror;
    __typeof__(&pfm_get_pmu_info) get_pmu_info;
    __typeof__(&pfm_get_event_next) get_event_next;
    __typeof__(&pfm_get_event_info) get_event_info;
    __typeof__(&pfm_get_event_attr_info) get_event_attr_info;
    __typeof__(&pfm_get_os_event_encoding) get_os_event_encoding;
} pfm; /* of the file, which stays loaded */

static int load(void)
{
    static const char *const names[] = { "pfm_initialize",           "pfm_strerror",       "pfm_get_pmu_info",
                                         "pfm_get_event_next",       "pfm_get_event_info", "pfm_get_event_attr_info",
                                         "pfm_get_os_event_encoding" };
    void *found[sizeof names / sizeof *names], *file = dlopen(PFM_FILE, RTLD_NOW | RTLD_LOCAL);
    _Static_assert(sizeof found == sizeof pfm, "a name for each function");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (file == NULL || (found[i] = dlsym(file, names[i])) == NULL)
            return PFM_ERR_NOTSUPP;
    memcpy(&pfm, found, sizeof pfm);
    return PFM_SUCCESS;
}

pfm_err_t pfm_initialize(void)
{
    return pfm.initialize == NULL && load() != PFM_SUCCESS ? PFM_ERR_NOTSUPP : pfm.initialize();
}

const char *pfm_strerror(int code)
{
    return pfm.strerror == NULL ? PFM_FILE " cannot be loaded" : pfm.strerror(code);
}

/* The others come after pfm_initialize has succeeded. */

pfm_err_t pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *output)
{
    return pfm.get_pmu_info == NULL ? PFM_ERR_NOINIT : pfm.get_pmu_info(pmu, output);
}

int pfm_get_event_next(int index)
{
    return pfm.get_event_next == NULL ? -1 : pfm.get_event_next(index);
}

pfm_err_t pfm_get_event_info(int index, pfm_os_t os, pfm_event_info_t *output)
{
    return pfm.get_event_info == NULL ? PFM_ERR_NOINIT : pfm.get_event_info(index, os, output);
}

pfm_err_t pfm_get_event_attr_info(int index, int attribute, pfm_os_t os, pfm_event_attr_info_t *output)
{
    return pfm.get_event_attr_info == NULL ? PFM_ERR_NOINIT : pfm.get_event_attr_info(index, attribute, os, output);
}

pfm_err_t pfm_get_os_event_encoding(const char *text, int modes, pfm_os_t os, void *arguments)
{
    return pfm.get_os_event_encoding == NULL ? PFM_ERR_NOINIT : pfm.get_os_event_encoding(text, modes, os, arguments);
}
