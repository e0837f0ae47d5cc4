/* Headers of the C library that nearly every file needs: who includes this one, or a header that does, names none of
 * them. */
#ifndef CORE_BASE_STD_H
#define CORE_BASE_STD_H

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#endif
