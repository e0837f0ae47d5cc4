#include "core/agent/instrument/class_archive.h"

#include "core/agent/codecache/own_vm.h"
#include "core/hotspot/vm.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static char found[256]; /* the option, or "" */

/* JDK 24 and later; AOTCacheOutput alone (JDK 25) sets the mode, too. */
static bool records_cache(void)
{
    char mode[16], path[512];
    if (!vm_flag_text(own_vm(), "AOTMode", mode, sizeof mode) || strcmp(mode, "record") != 0)
        return false;
    if (vm_flag_text(own_vm(), "AOTCacheOutput", path, sizeof path))
        snprintf(found, sizeof found, "-XX:AOTCacheOutput=%.200s", path);
    else
        snprintf(found, sizeof found, "-XX:AOTMode=record");
    return true;
}

static void find_archive(void)
{
    char path[512];
    if (records_cache())
        return;
    /* -XX:+AutoCreateSharedArchive (JDK 19 and later) sets it, where there is no valid archive yet. */
    if (vm_flag_text(own_vm(), "ArchiveClassesAtExit", path, sizeof path))
        snprintf(found, sizeof found, "-XX:ArchiveClassesAtExit=%.200s", path);
    else if (vm_flag_is_asked_for(own_vm(), "RecordDynamicDumpInfo")) /* for 'jcmd VM.cds dynamic_dump' */
        snprintf(found, sizeof found, "-XX:+RecordDynamicDumpInfo");
}

const char *class_archive_option(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_archive);
    return found[0] == '\0' ? NULL : found;
}
