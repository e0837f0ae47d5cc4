/* A packet of the other side's: any bytes.  What was understood comes back as it went. */
#include "core/wire/message.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static char once[WIRE_PACKET_BYTES], twice[WIRE_PACKET_BYTES];
    static struct wire_list list;
    struct wire_message message;
    char *packet = malloc(n + 1); /* of its very length, so that reading behind it is found */
    if (packet == NULL)
        abort();
    memcpy(packet, bytes, n);
    packet[n] = '\0';
    wire_decode(packet, &list, &message);
    if (message.text == NULL || message.kind >= WIRE_N_KINDS || list.n > WIRE_LIST_MAX)
        abort();
    wire_encode(&message, once, sizeof once);
    if (message.kind != WIRE_UNKNOWN) {
        wire_decode(once, &list, &message);
        wire_encode(&message, twice, sizeof twice);
        if (strcmp(once, twice) != 0)
            abort();
    }
    free(packet);
    return 0;
}
