package target;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads that use less CPU time than lies between two samples: without an argument one for each task, most of whose
 * work is in task and the rest in between; with N, N threads that work for a moment twice a second, most of them in
 * task.  A second argument is after how many seconds it ends; then it prints the CPU time of both methods by the
 * threads' clocks.
 */
public final class ShortThreads {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final AtomicLong TASK_NS = new AtomicLong(), BETWEEN_NS = new AtomicLong();
    private static long end;
    private static volatile double sink;

    public static void main(String[] args) throws InterruptedException {
        end = System.nanoTime() + 1_000_000_000L * (args.length < 2 ? 600 : Integer.parseInt(args[1]));
        int n = args.length == 0 ? 0 : Integer.parseInt(args[0]);
        for (int i = 0; i < n; i++) {
            boolean isTask = i % 4 != 0;
            Thread thread = new Thread(null, () -> sleeper(isTask), "sleeper-" + i, 65536);
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("READY");
        for (int i = 0; System.nanoTime() < end; i++)
            if (n > 0)
                Thread.sleep(100);
            else
                startTask(i);
        System.out.println("CPU " + TASK_NS.get() + " " + BETWEEN_NS.get());
    }

    private static void startTask(int i) throws InterruptedException {
        Thread thread = new Thread(() -> timed(true, 250_000), "task-" + i);
        thread.start();
        thread.join();
        if (i % 4 == 0)
            timed(false, 250_000);
    }

    private static void sleeper(boolean isTask) {
        try {
            while (System.nanoTime() < end) {
                timed(isTask, 20_000);
                Thread.sleep(500);
            }
        } catch (InterruptedException e) {
            return;
        }
    }

    private static void timed(boolean isTask, int n) {
        long start = THREADS.getCurrentThreadCpuTime();
        if (isTask)
            task(n);
        else
            between(n);
        (isTask ? TASK_NS : BETWEEN_NS).addAndGet(THREADS.getCurrentThreadCpuTime() - start);
    }

    private static void task(int n) {
        sink = work(n);
    }

    private static void between(int n) {
        sink = work(n);
    }

    private static double work(int n) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += Math.sqrt(i);
        return sum;
    }
}
