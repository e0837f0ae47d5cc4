#include "core/recorder/counted_run.h"

#include "core/recorder/launch.h"
#include "core/wire/setting.h"

int counted_run(const struct counted_run_plan *plan, int *status, struct err *err)
{
    static const enum setting_kind kinds[] = { [COUNT_OBJECTS] = SETTING_COUNT_OBJECTS,
                                               [COUNT_RECEIVERS] = SETTING_COUNT_RECEIVERS,
                                               [COUNT_CALLS] = SETTING_COUNT_CALLS };
    const struct setting setting = { .kind = kinds[plan->what], .number = plan->one_in, .text = plan->path };
    char option[SETTING_OPTION_BYTES];
    struct launch launch;
    setting_encode(&setting, option);
    int out = launch_output_to_error(err), rc = -1;
    if (out < 0)
        return -1;
    if (launch_fork(&launch, plan->argv, plan->agent, option, plan->flags, NULL, err) == 0) {
        rc = launch_go(&launch, plan->argv[0], err);
        if (rc == 0)
            launch_wait(launch.pid, LAUNCH_FOREVER, status);
        launch_end(&launch);
    }
    launch_output_back(out);
    return rc;
}
