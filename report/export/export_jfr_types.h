/*
 * What a JDK Flight Recorder file says of its own types: a table, from which the metadata event is made.
 */
#ifndef REPORT_EXPORT_EXPORT_JFR_TYPES_H
#define REPORT_EXPORT_EXPORT_JFR_TYPES_H

#include "core/base/arena.h"
#include "report/export/export_jfr_bytes.h"

/* The numbers by which a file names types: its own choice, but for the first two. */
enum jfr_type {
    JFR_METADATA,
    JFR_CHECKPOINT,
    /* values */
    JFR_BOOLEAN,
    JFR_INT,
    JFR_LONG,
    JFR_STRING,
    /* annotations */
    JFR_CONTENT_TYPE,
    JFR_LABEL,
    JFR_CATEGORY,
    JFR_TIMESTAMP,
    JFR_TIMESPAN,
    JFR_DATA_AMOUNT,
    /* of constants */
    JFR_CLASS_LOADER,
    JFR_PACKAGE,
    JFR_CLASS,
    JFR_THREAD,
    JFR_SYMBOL,
    JFR_METHOD,
    JFR_FRAME_TYPE,
    JFR_THREAD_STATE,
    JFR_STACK_FRAME,
    JFR_STACK_TRACE,
    /* events */
    JFR_JVM_INFORMATION,
    JFR_EXECUTION_SAMPLE,
    JFR_ALLOCATION_SAMPLE,
    JFR_MONITOR_ENTER,
    JFR_MONITOR_WAIT,
    JFR_THREAD_PARK,
    JFR_THREAD_SLEEP,
    JFR_OTHER_WAIT,
    JFR_COLLECTION,
    JFR_TYPES
};

/* Append the metadata event.  utc_offset_s: of the local time.  Without memory, to is broken. */
void jfr_put_metadata(struct jfr_bytes *to, long utc_offset_s, struct arena *arena);

#endif
