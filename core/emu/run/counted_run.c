#include "core/emu/run/counted_run.h"

#include "core/recorder/launch.h"
#include "core/wire/setting.h"

static int encode(const struct counted_run_plan *plan, char option[SETTING_OPTION_BYTES], struct err *err)
{
    static const enum setting_kind kinds[] = { [COUNT_OBJECTS] = SETTING_COUNT_OBJECTS,
                                               [COUNT_RECEIVERS] = SETTING_COUNT_RECEIVERS,
                                               [COUNT_CALLS] = SETTING_COUNT_CALLS };
    struct setting setting = { .kind = kinds[plan->what], .number = plan->number, .text = plan->path };
    if (plan->method != NULL) {
        setting.kind = SETTING_COUNT_OBJECTS_IN;
        setting.name = plan->method;
    }
    if (setting_room(&setting) > SETTING_OPTION_BYTES) {
        err_set(err, "'%s' is too long", plan->method == NULL ? plan->path : plan->method);
        return err_next(err, "write '*' for a part of it");
    }
    setting_encode(&setting, option);
    return 0;
}

int counted_run(const struct counted_run_plan *plan, int *status, struct err *err)
{
    char option[SETTING_OPTION_BYTES];
    struct launch launch;
    if (encode(plan, option, err) < 0)
        return -1;
    int out = launch_output_to_error(err), rc = -1;
    if (out < 0)
        return -1;
    const struct launch_plan launched = {
        .argv = plan->argv, .agent = plan->agent, .options = option, .flags = plan->flags
    };
    if (launch_fork(&launch, &launched, err) == 0) {
        rc = launch_go(&launch, plan->argv[0], err);
        if (rc == 0)
            launch_wait_for_jvm(&launch, status);
        launch_end(&launch);
    }
    launch_output_back(out);
    return rc;
}
