package bench;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * Computes on one thread, 20 calls deep, and prints each quarter of a second its CPU time in us and its rounds so far;
 * as many threads as the second argument says wait meanwhile.
 */
public final class Nested {
    private static volatile long sink;

    public static void main(String[] args) {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        for (int i = 0; args.length > 1 && i < Integer.parseInt(args[1]); i++) {
            Thread waiting = new Thread(Nested::rest, "waiting-" + i);
            waiting.setDaemon(true);
            waiting.start();
        }
        long x = 1;
        long rounds = 0;
        for (int turn = 0; turn < 4 * Integer.parseInt(args[0]); turn++) {
            long end = System.nanoTime() + 250_000_000L;
            for (; System.nanoTime() < end; rounds += 200)
                for (int i = 0; i < 200; i++)
                    x += step(20, x + i);
            sink = x;
            System.out.println(system.getProcessCpuTime() / 1000 + " " + rounds);
        }
    }

    private static void rest() {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static long step(int depth, long x) {
        if (depth == 0) {
            long y = x;
            for (int i = 0; i < 400; i++)
                y = y * 31 + (y >>> 7);
            return y;
        }
        return depth % 2 == 0 ? even(depth, x) : odd(depth, x);
    }

    private static long even(int depth, long x) {
        return step(depth - 1, x + depth) + 1;
    }

    private static long odd(int depth, long x) {
        return step(depth - 1, x ^ depth) + 1;
    }
}
