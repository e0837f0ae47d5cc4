#include "core/recorder/counted_run.h"

#include "core/recorder/launch.h"
#include "core/wire/setting.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int counted_run(const struct counted_run_plan *plan, int *status, struct err *err)
{
    const struct setting setting = { .kind = plan->receivers_in > 0 ? SETTING_COUNT_RECEIVERS : SETTING_COUNT_OBJECTS,
                                     .number = plan->receivers_in,
                                     .text = plan->path };
    char option[SETTING_OPTION_BYTES];
    struct launch launch;
    setting_encode(&setting, option);
    int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), rc = -1;
    if (out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return err_set(err, "cannot direct the standard output: %s", strerror(errno));
    if (launch_fork(&launch, plan->argv, plan->agent, option, plan->flags, NULL, err) == 0) {
        rc = launch_go(&launch, plan->argv[0], err);
        if (rc == 0)
            launch_wait(launch.pid, LAUNCH_FOREVER, status);
        launch_end(&launch);
    }
    dup2(out, STDOUT_FILENO);
    close(out);
    return rc;
}
