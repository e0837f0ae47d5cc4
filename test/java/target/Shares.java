package target;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Four methods with known parts of its CPU time, called in turn by a loop in their own class: alpha 45 %, beta 30 %,
 * gamma 15 %, delta 10 %; until it is ended, or for the seconds of its first argument. The second one is how long all
 * four take, in microseconds. At its end it prints what each has had.
 */
public final class Shares {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final double[] had = new double[4];
    private static long percent_ns = 100_000;
    private static volatile long sink;

    public static void main(String[] args) {
        if (args.length > 1)
            percent_ns = Long.parseLong(args[1]) * 10;
        long end = System.nanoTime() + (args.length == 0 ? 600 : Long.parseLong(args[0])) * 1_000_000_000L;
        System.out.println("READY");
        while (System.nanoTime() < end) {
            alpha();
            beta();
            gamma();
            delta();
        }
        double all = had[0] + had[1] + had[2] + had[3];
        System.out.printf("alpha %.2f beta %.2f gamma %.2f delta %.2f%n", 100 * had[0] / all, 100 * had[1] / all,
                100 * had[2] / all, 100 * had[3] / all);
    }

    private static void alpha() {
        work(0, 45);
    }

    private static void beta() {
        work(1, 30);
    }

    private static void gamma() {
        work(2, 15);
    }

    private static void delta() {
        work(3, 10);
    }

    private static void work(int phase, int percent) {
        long begin = THREADS.getCurrentThreadCpuTime(), end = begin + percent * percent_ns, now = begin;
        while (now < end) {
            compute();
            now = THREADS.getCurrentThreadCpuTime();
        }
        had[phase] += now - begin;
    }

    private static void compute() {
        long sum = sink;
        for (int i = 0; i < 2000; i++)
            sum = sum * 31 + i;
        sink = sum;
    }
}
