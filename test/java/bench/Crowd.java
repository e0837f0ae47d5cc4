package bench;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.ThreadLocalRandom;

/**
 * As many threads as the first argument says compute, 18 calls deep, for some milliseconds each time and sleep in
 * between, so that together they need as many CPUs as the second argument says; for as many seconds as the third one.
 */
public final class Crowd {
    private static final int DEPTH = 16;
    private static volatile long sink;

    public static void main(String[] args) throws InterruptedException {
        int threads = Integer.parseInt(args[0]);
        double idle = threads / Double.parseDouble(args[1]);
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(null, () -> work(idle), "crowd-" + i, 256 << 10);
            thread.setDaemon(true);
            thread.start();
        }
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        for (int second = 0; second < Integer.parseInt(args[2]); second++) {
            Thread.sleep(1000);
            System.out.println(system.getProcessCpuTime() / 1000);
        }
    }

    /** So many times as long as it computes, it sleeps. */
    private static void work(double idle) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        try {
            Thread.sleep(random.nextInt(1000));
            for (;;) {
                long begin = System.nanoTime();
                long end = begin + 2_000_000;
                while (System.nanoTime() < end)
                    sink = deep(DEPTH, begin);
                long ms = (long) ((System.nanoTime() - begin) * idle * random.nextDouble(2) / 1e6);
                Thread.sleep(Math.max(1, ms));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static long deep(int depth, long x) {
        if (depth == 0) {
            long y = x;
            for (int i = 0; i < 400; i++)
                y = y * 31 + (y >>> 7);
            return y;
        }
        return depth % 2 == 0 ? even(depth, x) : odd(depth, x);
    }

    private static long even(int depth, long x) {
        return deep(depth - 1, x + depth) + 1;
    }

    private static long odd(int depth, long x) {
        return deep(depth - 1, x ^ depth) + 1;
    }
}
