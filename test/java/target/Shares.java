package target;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Four methods with known parts of its CPU time, called in turn by a loop in their own class: alpha 45 %, beta 30 %,
 * gamma 15 %, delta 10 %; until it is ended, or for the seconds of its argument.
 */
public final class Shares {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static volatile long sink;

    public static void main(String[] args) {
        long end = System.nanoTime() + (args.length == 0 ? 600 : Long.parseLong(args[0])) * 1_000_000_000L;
        System.out.println("READY");
        while (System.nanoTime() < end) {
            alpha();
            beta();
            gamma();
            delta();
        }
    }

    private static void alpha() {
        work(4_500_000);
    }

    private static void beta() {
        work(3_000_000);
    }

    private static void gamma() {
        work(1_500_000);
    }

    private static void delta() {
        work(1_000_000);
    }

    private static void work(long ns) {
        long end = THREADS.getCurrentThreadCpuTime() + ns;
        while (THREADS.getCurrentThreadCpuTime() < end)
            compute();
    }

    private static void compute() {
        long sum = sink;
        for (int i = 0; i < 2000; i++)
            sum = sum * 31 + i;
        sink = sum;
    }
}
