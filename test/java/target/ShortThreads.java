package target;

/**
 * Threads that use less CPU time than lies between two samples: without an argument one for each task, four fifths of
 * whose work is in task and a fifth in between; with N, N threads that work for a moment twice a second.  A second
 * argument is after how many seconds it ends.
 */
public final class ShortThreads {
    private static long end;
    private static volatile double sink;

    public static void main(String[] args) throws InterruptedException {
        end = System.nanoTime() + 1_000_000_000L * (args.length < 2 ? 600 : Integer.parseInt(args[1]));
        int n = args.length == 0 ? 0 : Integer.parseInt(args[0]);
        for (int i = 0; i < n; i++) {
            Thread thread = new Thread(null, ShortThreads::sleeper, "sleeper-" + i, 65536);
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("READY");
        for (int i = 0; System.nanoTime() < end; i++)
            if (n > 0)
                Thread.sleep(1000);
            else
                startTask(i);
    }

    private static void startTask(int i) throws InterruptedException {
        Thread thread = new Thread(() -> task(), "task-" + i);
        thread.start();
        thread.join();
        if (i % 4 == 0)
            between();
    }

    private static void sleeper() {
        try {
            while (System.nanoTime() < end) {
                sink = work(20_000);
                Thread.sleep(500);
            }
        } catch (InterruptedException e) {
            return;
        }
    }

    private static void task() {
        sink = work(250_000);
    }

    private static void between() {
        sink = work(250_000);
    }

    private static double work(int n) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += Math.sqrt(i);
        return sum;
    }
}
