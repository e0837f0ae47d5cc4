/*
 * How a user names the argument of a method by which its calls are told apart:
 *
 *     com.shop.Orders.find(1)                          the first argument's value
 *     *Servlet.service(1).getRequestURI()              what its method getRequestURI returns
 *     com.shop.Node.visit(0).getName()                 of the object itself
 */
#ifndef CORE_BASE_CALL_ARGUMENT_H
#define CORE_BASE_CALL_ARGUMENT_H

#include "core/base/pattern.h"

#define CALL_ARGUMENT_MAX      255 /* a method has no more */
#define CALL_ARGUMENT_ACCESSOR 256

struct call_argument {
    char methods[PATTERN_BYTES];           /* as pattern_parse takes it: "com.shop.Orders#find" */
    uint32_t number;                       /* from 1 on; 0: the object itself */
    char accessor[CALL_ARGUMENT_ACCESSOR]; /* "getRequestURI"; "": none */
};

/* Returns 0, or -1: it is no such text. */
int call_argument_parse(struct call_argument *argument, const char *text);

#endif
