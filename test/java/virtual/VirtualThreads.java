package virtual;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Virtual threads that sleep, wait for locks and for each other inside methods with probes, and go on on other
 * carriers (JDK 21 and later; not compiled with the rest).  Arguments: threads, rounds of each.
 */
public final class VirtualThreads {
    private static final AtomicLong sum = new AtomicLong();
    private static final ReentrantLock lock = new ReentrantLock();
    private static final Object monitor = new Object();
    private static long guarded;

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]), rounds = Integer.parseInt(args[1]);
        List<Future<Long>> all = new ArrayList<>();
        long total = 0;
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < threads; i++) {
                int seed = i;
                all.add(executor.submit(() -> works(seed, rounds)));
            }
            for (Future<Long> one : all)
                total += one.get();
        }
        long expected = 0;
        for (int i = 0; i < threads; i++)
            for (int k = 0; k < rounds; k++)
                expected += computes(i + k);
        System.out.println("TOTAL " + (total == expected ? "ok" : "WRONG") + ", LOCKED "
            + (guarded == 2L * threads * rounds ? "ok" : "WRONG " + guarded) + ", SUM " + sum.get());
    }

    private static long works(int seed, int rounds) throws InterruptedException {
        long result = 0;
        for (int k = 0; k < rounds; k++) {
            result += computes(seed + k);
            switch ((seed + k) % 4) {
            case 0:
                sleeps(k);
                break;
            case 1:
                sleepsDeeper(seed % 7, k);
                break;
            case 2:
                Thread.yield();
                break;
            default:
                fails(seed % 5);
                break;
            }
            locks();
            synchronizes();
        }
        return result;
    }

    private static long computes(int n) {
        long x = n;
        for (int i = 0; i < 50; i++)
            x = x * 31 + i;
        return x;
    }

    private static void sleeps(int n) throws InterruptedException {
        for (int i = 0; i <= n % 2; i++)
            Thread.sleep(1);
    }

    private static void sleepsDeeper(int depth, int n) throws InterruptedException {
        for (int i = 0; i < 1; i++)
            if (depth > 0)
                sleepsDeeper(depth - 1, n);
            else
                sleeps(n);
    }

    private static void fails(int depth) throws InterruptedException {
        try {
            throwsAfterSleep(depth);
        } catch (IllegalStateException e) {
            sum.incrementAndGet();
        }
    }

    private static void throwsAfterSleep(int depth) throws InterruptedException {
        for (int i = 0; i < 1; i++)
            if (depth > 0)
                throwsAfterSleep(depth - 1);
        Thread.sleep(1);
        throw new IllegalStateException();
    }

    private static void locks() {
        for (int i = 0; i < 1; i++) {
            lock.lock();
            try {
                guarded++;
                Thread.yield();
            } finally {
                lock.unlock();
            }
        }
    }

    private static void synchronizes() {
        for (int i = 0; i < 1; i++)
            synchronized (monitor) {
                lock.lock();
                guarded++;
                lock.unlock();
            }
    }
}
