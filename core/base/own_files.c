#include "core/base/plain_file.h"

#define OTHERS       "/libexec/mmprof/"
#define PLACES_BYTES 1024 /* of a message */

int own_file_find(const struct own_places *places, const char *name, int mode, char *path, size_t n, struct err *err)
{
    char folder[3072];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (length <= 0)
        return err_set(err, "cannot find this program's own file");
    folder[length] = '\0';
    char *end = strrchr(folder, '/') + 1;
    *end = '\0';
    const size_t n_others = strlen(OTHERS);
    bool is_other = (size_t)(end - folder) > n_others && strcmp(end - n_others, OTHERS) == 0;
    const char *const *place = is_other ? places->from_others : places->from_mmprof;
    char tried[PLACES_BYTES] = "";
    size_t at = 0;
    for (; *place != NULL; place++) {
        int wrote = snprintf(path, n, "%s%s%s", folder, *place, name);
        if (wrote > 0 && (size_t)wrote < n && access(path, mode) == 0)
            return 0;
        wrote = snprintf(tried + at, sizeof tried - at, "%s'%s%s'", at == 0 ? "" : " or ", folder, *place);
        at += wrote > 0 && (size_t)wrote < sizeof tried - at ? (size_t)wrote : 0;
    }
    err_set(err, "'%s' is not installed: it is not in %s", name, tried);
    return err_next(err, "run 'make' or 'make install' again");
}
