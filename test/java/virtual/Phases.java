package virtual;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Virtual threads whose phases wait in the middle of known work (JDK 21 and later; not compiled with the rest): each
 * calls outer() a number of times, which burns, waits in inner() between two burns, and burns.  Then one platform
 * thread does the same work without waiting.  Arguments: threads, rounds of each; then a file, where they go on, at
 * leisure, until there is such a file.
 */
public final class Phases {
    private static final int STEPS = 2000;
    private static final long SHORT_NS = 1_000_000, LONG_NS = 50_000_000;
    private static final ReentrantLock lock = new ReentrantLock();
    private static final Object monitor = new Object();
    private static volatile boolean goesOn;

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]), rounds = Integer.parseInt(args[1]);
        long[] sums = new long[threads];
        int[] done = new int[threads];
        goesOn = args.length > 2;
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int index = i;
            all.add(Thread.ofVirtual().name("virtual-" + i).start(() -> sums[index] = runs(index, rounds, done)));
        }
        for (; goesOn; goesOn = !new File(args[2]).exists())
            Thread.sleep(10);
        for (Thread thread : all)
            thread.join();
        long sum = 0, expected = 0;
        for (int i = 0; i < threads; i++) {
            sum += sums[i];
            expected += compares(i, done[i]);
        }
        System.out.println("SUM " + sum + (sum == expected ? " ok" : " WRONG, not " + expected));
    }

    private static long runs(int seed, int rounds, int[] done) {
        long x = seed + 1;
        int i = 0;
        for (; i < rounds || goesOn; i++)
            x = outer(x, i < rounds ? seed + i : -1);
        done[seed] = i;
        return x;
    }

    private static long outer(long x, int kind) {
        x = burns(x);
        x = inner(x, kind);
        return burns(x);
    }

    private static long inner(long x, int kind) {
        x = burns(x);
        waits(kind);
        return burns(x);
    }

    private static void waits(int kind) {
        switch (kind % 4) {
        case -1:
            LockSupport.parkNanos(LONG_NS);
            break;
        case 0:
            LockSupport.parkNanos(SHORT_NS);
            break;
        case 1:
            Thread.yield();
            break;
        case 2:
            lock.lock();
            Thread.yield();
            lock.unlock();
            break;
        default:
            synchronized (monitor) {
                Thread.yield();
            }
            break;
        }
    }

    private static long burns(long x) {
        return works(x);
    }

    private static long compares(int seed, int rounds) {
        long x = seed + 1;
        for (int i = 0; i < 4 * rounds; i++)
            x = burnsPlain(x);
        return x;
    }

    private static long burnsPlain(long x) {
        return works(x);
    }

    private static long works(long x) {
        for (int i = 0; i < STEPS; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }
}
