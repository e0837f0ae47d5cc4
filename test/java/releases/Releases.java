import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A program for each JDK from 8 on: two methods take CPU time in a proportion that it measures itself, and four threads
 * wait for a lock and for a monitor, each of which another one of them holds.  "allocate" makes all of its garbage.
 *
 * Prints "running" when it has started up.  Ends when the file that is its argument is there; prints how many rounds it
 * made, whether each computed the same, and what part of the time "first" took, in per cent.
 */
public class Releases {
    private static final ThreadMXBean clock = ManagementFactory.getThreadMXBean();

    private static long first(int n) {
        long sum = 0;
        for (int i = 1; i < n; i++)
            sum += (sum << 5) % i + i;
        return sum;
    }

    private static long second(int n) {
        long sum = 1;
        for (int i = 1; i < n; i++)
            sum ^= (sum * 31 + i) % (i + 7L);
        return sum;
    }

    private static byte[] kept;

    private static void allocate() {
        for (int i = 0; i < 100; i++)
            kept = new byte[16384];
    }

    /* Two thirds of the work are in first. */
    private static long round(long[] took) {
        long start = clock.getCurrentThreadCpuTime();
        mmprof.Marks.mark("first");
        long sum = first(400000);
        mmprof.Marks.mark("second");
        long middle = clock.getCurrentThreadCpuTime();
        sum += second(200000);
        took[0] += middle - start;
        took[1] += clock.getCurrentThreadCpuTime() - middle;
        mmprof.Marks.pause();
        allocate();
        return sum;
    }

    private static final ReentrantLock lock = new ReentrantLock();

    private static void sleep() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            throw new RuntimeException(e);
        }
    }

    private static void locked() {
        lock.lock();
        try {
            sleep();
        } finally {
            lock.unlock();
        }
    }

    private static void entered() {
        synchronized (clock) {
            sleep();
        }
    }

    private static void start(final boolean locks) {
        Thread thread = new Thread() {
            @Override
            public void run() {
                while (true) {
                    if (locks)
                        locked();
                    else
                        entered();
                }
            }
        };
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] args) {
        Thread.currentThread().setName("computes in two methods: \u00e4\u20ac");
        for (int i = 0; i < 4; i++)
            start(i % 2 == 0);
        java.io.File end = new java.io.File(args[0]);
        long[] took = new long[2];
        long sum = 0, rounds = 0;
        for (; !end.exists(); rounds++) {
            sum = sum * 31 + round(took);
            if (rounds == 20)
                System.out.println("running");
        }
        long check = 0, each = first(400000) + second(200000);
        for (long i = 0; i < rounds; i++)
            check = check * 31 + each;
        System.out.println(rounds + " " + (sum == check) + " " + took[0] * 100 / (took[0] + took[1]));
    }
}
