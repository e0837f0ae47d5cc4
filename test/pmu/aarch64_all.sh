#!/bin/bash
# timeout: 7300
# The tests of 'make check' that are slow in an emulated machine pass on aarch64, too.  Left out is what is
# said about the sources or this machine's tools, and what needs a newer JDK.
export MACHINE_RUN_S=7200
. "$(dirname "$0")/machine.bash"
[ -n "${PMU_ALL-}${MMPROF_IN_MACHINE-}" ] || skip_all "it takes an hour: 'make check-pmu PMU_ALL=1' runs it"
in_machine -smp 2 -m 3072

cd "$root" || exit 1
for test in build/test/unit/{estimate,live}_test test/e2e/*.sh; do
    case $(basename "$test" .sh) in
        dump | list | errors | micro_counts) ;; # aarch64.sh
        install | lint | manual | names | other_machine | rooms | runner | virtual_threads) ;;
        *) passes "$test" ;;
    esac
done

done_testing
