/*
 * What the checks of consistent.c read: mmprof's reports as JSON, rows by their labels and kinds.
 */
#ifndef TEST_TOOLS_CONSISTENT_READ_H
#define TEST_TOOLS_CONSISTENT_READ_H

#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EPSILON       1e-6
#define SWITCHES_MOST 0.02 /* of all time, in one part of the JVM */
#define SAMPLED_SAME  1e-5 /* shares of the tree, whose times are whole ticks */
#define PAGE_SAME     6e-6 /* the page has six digits */

static const char *mmprof, *trace, *options = "";
static int n_wrong;

static __attribute__((format(printf, 1, 2))) void wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    n_wrong++;
}

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "consistent: cannot read '%s'\n", what);
    exit(2);
}

/* ---- reports ---- */

/* Reports that have no options of the kind that is tried. */
static bool is_beside(const char *words)
{
    static const char *const names[] = { "view cost", "view vm", "view hot", "view timeline", "export" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(words, names[i]) != NULL)
            return true;
    return false;
}

/* What 'mmprof WORDS' prints, for free(); NULL: it failed. */
static char *output_of(const char *words)
{
    char command[4096], *text = NULL;
    size_t n = 0, got;
    snprintf(command, sizeof command, "'%s' %s %s '%s' 2> /dev/null", mmprof, words, is_beside(words) ? "" : options,
             trace);
    FILE *in = popen(command, "r");
    do {
        char *more = in == NULL ? NULL : realloc(text, n + 65537);
        if (more == NULL)
            give_up(command);
        text = more;
        got = fread(text + n, 1, 65536, in);
        n += got;
    } while (got > 0);
    text[n] = '\0';
    if (pclose(in) == 0)
        return text;
    free(text);
    return NULL;
}

static cJSON *table_of(const char *words)
{
    char *text = output_of(words);
    cJSON *json = text == NULL ? NULL : cJSON_Parse(text);
    free(text);
    return json;
}

static cJSON *must_have(const char *words)
{
    cJSON *json = table_of(words);
    if (json == NULL)
        give_up(words);
    return json;
}

#define EACH(row, table) cJSON_ArrayForEach(row, cJSON_GetObjectItem(table, "rows"))

static const char *text_in(const cJSON *row, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(row, key));
    return text == NULL ? "" : text;
}

/* What stands first in a row of text. */
static const char *label_in(const cJSON *row)
{
    return text_in(row, cJSON_HasObjectItem(row, "label") ? "label" : "method");
}

/* A method's own name; where that column is the label, another one has it. */
static const char *name_in(const cJSON *row)
{
    return text_in(row, cJSON_HasObjectItem(row, "name") ? "name" : "method");
}

/* NAN: there is none. */
static double number_in(const cJSON *row, const char *key)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItem(row, key));
}

/* Samples by an event are of no time. */
static const char *time_key(const cJSON *row)
{
    return cJSON_HasObjectItem(row, "share") ? "share" : "time_share";
}

/*
 * Of what the report says above the table, 0 where it does not: withheld_ns, what the kernel accounted to threads less
 * than they were on CPUs (only the table's rows of the JVM leave it out); switches_ns, what it charged for switches.
 */
static double about_ns(const cJSON *report, const char *key)
{
    double ns = number_in(cJSON_GetObjectItem(report, "about"), key);
    return isnan(ns) ? 0 : ns;
}

static bool is_kind(const cJSON *row, const char *kind)
{
    return strcmp(text_in(row, "kind"), kind) == 0;
}

static bool is_same(double a, double b, double relative)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= relative * fmax(fabs(a), fabs(b)) + 1e-12;
}

/* Without the mark of calls that had not returned. */
static bool is_label(const char *label, const char *name)
{
    size_t n = strlen(name);
    return strncmp(label, name, n) == 0 && (label[n] == '\0' || strcmp(label + n, " +") == 0);
}

static const cJSON *row_of(const cJSON *table, const char *name)
{
    const cJSON *row;
    EACH(row, table)
    if (is_label(text_in(row, "label"), name))
        return row;
    return NULL;
}

static const cJSON *row_of_kind(const cJSON *table, const char *kind)
{
    const cJSON *row;
    EACH(row, table)
    if (is_kind(row, kind))
        return row;
    return NULL;
}

static void check_share(const char *what, const cJSON *row, const char *key)
{
    double share = number_in(row, key);
    if (share < 0 || share > 1 + EPSILON)
        wrong("%s: '%s' has a %s of %g", what, label_in(row), key, share);
}

#endif
