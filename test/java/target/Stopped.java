package target;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * One thread that computes in calls of 2 ms of CPU time, Stopped.burn, and after ten of them sleeps for 30 ms in a call
 * of Stopped.nap, until the file exists that is its argument.  A CPU quota stops the one and next to never the other.
 */
public final class Stopped {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static long made;

    public static void main(String[] args) throws Exception {
        Path stop = Path.of(args[0]);
        for (long round = 1; !Files.exists(stop); round++) {
            for (int i = 0; i < 10; i++)
                burn(2_000_000);
            nap(30);
            if (round % 20 == 0)
                System.out.println("ROUND " + round);
        }
        System.out.println("END " + made);
    }

    private static void burn(long nanos) {
        for (long end = THREADS.getCurrentThreadCpuTime() + nanos; THREADS.getCurrentThreadCpuTime() < end;)
            for (int i = 0; i < 10_000; i++)
                made = made * 31 + i;
    }

    private static void nap(long millis) throws InterruptedException {
        Thread.sleep(millis);
    }

    private Stopped() {}
}
