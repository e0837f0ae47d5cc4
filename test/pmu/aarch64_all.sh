#!/bin/bash
# timeout: 10900
# The tests of 'make check' that are slow in an emulated machine pass on aarch64, too.  Left out is what is
# said about the sources or this machine's tools, and what needs a newer JDK.  The machine's time is its instructions'
# (-icount): however busy the host is, it is as fast as ever, in its own seconds.  PMU_ALL may name some of the tests.
export MACHINE_RUN_S=10800
. "$(dirname "$0")/machine.bash"
[ -n "${PMU_ALL-}" ] || skip_all "it takes an hour or two: 'make check-pmu PMU_ALL=1' runs it"
in_machine -smp 1 -icount shift=1 -m 3072

cd "$root" || exit 1
for test in build/test/unit/{estimate,live,diff_power}_test test/{e2e,faults}/*.sh; do
    name=$(basename "$test" .sh)
    case " $PMU_ALL " in
        ' 1 ' | *" $name "*) ;;
        *) continue ;;
    esac
    case $name in
        dump | list) ;; # aarch64.sh
        install | lint | manual | names | other_machine | rooms | runner | virtual_threads) ;;
        *) passes "$test" ;;
    esac
done

done_testing
