#include "core/agent/lab/count_entries.h"

#define WEAR_BYTES 1024
#define WEAR_MAX   65536

void all_objects_wear_out_buffer(JNIEnv *jni, const bool *has_told)
{
    for (int i = 0; i < WEAR_MAX && !*has_told; i++) {
        jobject array = (*jni)->NewByteArray(jni, WEAR_BYTES);
        (*jni)->ExceptionClear(jni);
        (*jni)->DeleteLocalRef(jni, array);
    }
}

uint32_t all_objects_line(jvmtiEnv *jvmti, jmethodID method, jlocation location)
{
    jvmtiLineNumberEntry *table = NULL;
    jlocation best = -1;
    jint n = 0, line = 0;
    if (location < 0 || (*jvmti)->GetLineNumberTable(jvmti, method, &n, &table) != JVMTI_ERROR_NONE)
        return 0;
    for (jint i = 0; i < n; i++)
        if (table[i].start_location <= location && table[i].start_location >= best) {
            best = table[i].start_location;
            line = table[i].line_number;
        }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)table);
    return line > 0 ? (uint32_t)line : 0;
}
