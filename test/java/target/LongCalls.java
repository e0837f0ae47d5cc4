package target;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

/*
 * Threads in calls that go on while their methods are changed:   LongCalls THREADS FILE
 *
 * Each call goes through eight methods to one that calls another again and again, for a third of a second or more.
 * When there is such a file, it ends and says 'SUM n of m calls': each call returns 1, so that both are the same.
 */
final class LongCalls {
    private static final AtomicLong sum = new AtomicLong();

    private LongCalls() {}

    static long a(long ms, int n) { long all = 0; for (int i = 0; i < n; i++) all += b(ms, n); return all; }
    static long b(long ms, int n) { long all = 0; for (int i = 0; i < n; i++) all += c(ms, n); return all; }
    static long c(long ms, int n) { long all = 0; for (int i = 0; i < n; i++) all += d(ms, n); return all; }
    static long d(long ms, int n) { long all = 0; for (int i = 0; i < n; i++) all += e(ms, n); return all; }
    static long e(long ms, int n) { long all = 0; for (int i = 0; i < n; i++) all += f(ms, n); return all; }
    static long f(long ms, int n) { long all = 0; for (int i = 0; i < n; i++) all += g(ms, n); return all; }
    static long g(long ms, int n) { long all = 0; for (int i = 0; i < n; i++) all += h(ms, n); return all; }
    static long h(long ms, int n) { long all = 0; for (int i = 0; i < n; i++) all += work(ms); return all; }

    static long work(long ms) {
        long end = System.nanoTime() + ms * 1_000_000;
        int even = 0;
        while (System.nanoTime() < end)
            even |= leaf(even) & 1;
        return 1 + even;
    }

    static int leaf(int x) {
        int all = 0;
        for (int i = 0; i < 50; i++)
            all += 2 * i * (x + i);
        return all;
    }

    public static void main(String[] arguments) throws InterruptedException {
        int nThreads = Integer.parseInt(arguments[0]);
        Path stop = Path.of(arguments[1]);
        AtomicLong calls = new AtomicLong();
        Thread[] threads = new Thread[nThreads];
        for (int i = 0; i < nThreads; i++) {
            long ms = 350 + 7 * i;
            threads[i] = new Thread(() -> {
                while (!Files.exists(stop)) {
                    calls.incrementAndGet();
                    sum.addAndGet(a(ms, 1));
                }
            });
            threads[i].start();
        }
        System.out.println("READY");
        for (Thread thread : threads)
            thread.join();
        System.out.println("SUM " + sum.get() + " of " + calls.get() + " calls");
    }
}
