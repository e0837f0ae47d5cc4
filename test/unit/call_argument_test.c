/* How a user names the argument by which calls are told apart. */
#include "core/base/call_argument.h"
#include "test/unit/tap.h"

static const struct {
    const char *text, *methods; /* methods: NULL: it is none */
    uint32_t number;
    const char *accessor;
} rows[] = {
    { "com.shop.Orders.find(1)", "com.shop.Orders#find", 1, "" },
    { "com/shop/Orders.find(12)", "com/shop/Orders#find", 12, "" },
    { "com.shop.Orders#find(0).getName()", "com.shop.Orders#find", 0, "getName" },
    { "*Servlet.service(1).getRequestURI()", "*Servlet#service", 1, "getRequestURI" },
    { "Shop$Servlet.doGet(1).getRequestURI()", "Shop$Servlet#doGet", 1, "getRequestURI" },
    { "find(1)", NULL, 0, "" },
    { "Orders.find", NULL, 0, "" },
    { "Orders.find()", NULL, 0, "" },
    { "Orders.find(a)", NULL, 0, "" },
    { "Orders.find(-1)", NULL, 0, "" },
    { "Orders.find(256)", NULL, 0, "" },
    { "Orders.find(1", NULL, 0, "" },
    { "Orders.find(1)getName()", NULL, 0, "" },
    { "Orders.find(1).getName", NULL, 0, "" },
    { "Orders.find(1).()", NULL, 0, "" },
    { "Orders.find(1).get().name()", NULL, 0, "" },
    { "Or ders.find(1)", NULL, 0, "" },
    { "(1)", NULL, 0, "" },
    { "", NULL, 0, "" },
};

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct call_argument argument = { .number = 0 };
        char claim[128];
        int rc = call_argument_parse(&argument, rows[i].text);
        snprintf(claim, sizeof claim, "'%s' is %s", rows[i].text, rows[i].methods == NULL ? "refused" : "taken");
        CHECK(claim, rows[i].methods == NULL
                         ? rc < 0
                         : rc == 0 && strcmp(argument.methods, rows[i].methods) == 0 &&
                               argument.number == rows[i].number && strcmp(argument.accessor, rows[i].accessor) == 0);
    }
    return tap_done();
}
