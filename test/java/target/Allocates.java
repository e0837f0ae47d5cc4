package target;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Allocates known objects at known sites, in two threads, for a number of ms; the main one then exits.  In each round
 * these are 40,000 bytes of points and pages of 20,000 bytes, 30,000 bytes of lists and, in the JDK, a text of 10,000
 * bytes.  Prints, at its end, how many bytes the rounds of all threads allocated, and what the JVM's own counter says of
 * these threads.
 */
public final class Allocates {
    private static final int ROUND_BYTES = 100_000;
    static volatile Object kept;
    private static volatile boolean over;

    static final class Point {
        final long x, y;

        Point(long x, long y) {
            this.x = x;
            this.y = y;
        }
    }

    /* Of 32 bytes. */
    static void points() {
        for (int i = 0; i < 1250; i++)
            kept = new Point(i, i);
    }

    static void page() {
        kept = new byte[20_000 - 16];
    }

    /* Each a list of 24 bytes with an array of 96. */
    static void lists() {
        for (int i = 0; i < 250; i++) {
            List<Object> list = new ArrayList<>(20);
            list.add(over);
            kept = list;
        }
    }

    /* Of 24 bytes with an array of 9,976. */
    static void text(byte[] from) {
        kept = new String(from, StandardCharsets.ISO_8859_1);
    }

    private static final class Worker extends Thread {
        private final byte[] from = new byte[9_960];
        private long rounds, counted;

        Worker(int number) {
            super("worker-" + number);
        }

        @Override
        public void run() {
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            long before = threads.getThreadAllocatedBytes(currentThread().getId());
            try {
                for (; !over; rounds++) {
                    points();
                    page();
                    lists();
                    text(from);
                    if (rounds % 2 == 0)
                        Thread.sleep(1);
                }
            } catch (InterruptedException e) {
                over = true;
            }
            counted = threads.getThreadAllocatedBytes(currentThread().getId()) - before;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Worker[] workers = { new Worker(1), new Worker(2) };
        Thread clock = new Thread() {
            @Override
            public void run() {
                try {
                    Thread.sleep(Long.parseLong(arguments[0]));
                } catch (InterruptedException e) {
                    System.out.println(e);
                }
                over = true;
            }
        };
        clock.start();
        workers[0].start();
        workers[1].run();
        workers[0].join();
        long rounds = 0, counted = 0;
        for (Worker worker : workers) {
            rounds += worker.rounds;
            counted += worker.counted;
        }
        System.out.println("rounds " + rounds * ROUND_BYTES + " counted " + counted);
        System.exit(0);
    }
}
