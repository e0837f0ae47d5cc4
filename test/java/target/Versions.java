package target;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Two versions of a program: calls of changed() take as much CPU time as the first argument says, in microseconds on
 * the average, those of same() 2000.  The second one is the number of calls of each (60).
 */
public final class Versions {
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    public static void main(String[] args) {
        int us = Integer.parseInt(args[0]), n = args.length > 1 ? Integer.parseInt(args[1]) : 60;
        for (int i = 0; i < n; i++) {
            int percent = 90 + i * 7 % 21;
            changed(10L * us * percent);
            same(10L * 2000 * percent);
        }
    }

    private static void changed(long ns) {
        long end = CLOCK.getCurrentThreadCpuTime() + ns;
        while (CLOCK.getCurrentThreadCpuTime() < end) { }
    }

    private static void same(long ns) {
        long end = CLOCK.getCurrentThreadCpuTime() + ns;
        while (CLOCK.getCurrentThreadCpuTime() < end) { }
    }
}
