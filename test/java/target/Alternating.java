package target;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * A loop in main that calls four small methods of its own class in turns, with 45, 30, 15 and 10 % of its CPU time, a
 * few milliseconds a call.  It ends after as many seconds as its argument says.
 */
final class Alternating {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static volatile long sum;

    private Alternating() {}

    private static void work(long ns) {
        long end = THREADS.getCurrentThreadCpuTime() + ns;
        while (THREADS.getCurrentThreadCpuTime() < end) {
            long x = sum;
            for (int i = 0; i < 2000; i++)
                x = x * 31 + i;
            sum = x;
        }
    }

    private static void alpha() { work(4_500_000); }
    private static void beta() { work(3_000_000); }
    private static void gamma() { work(1_500_000); }
    private static void delta() { work(1_000_000); }

    public static void main(String[] arguments) {
        long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000_000L;
        System.out.println("READY");
        while (System.nanoTime() < end) {
            alpha();
            beta();
            gamma();
            delta();
        }
    }
}
