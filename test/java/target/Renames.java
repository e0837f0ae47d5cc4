package target;

/**
 * Threads by their names: one that calls itself after its task, three quarters of its time one and a quarter another
 * one, one with characters beyond 16 bits, and one that another thread renames.
 */
public final class Renames {
    private static final long END = System.nanoTime() + 600_000_000_000L;
    private static volatile double sink;

    public static void main(String[] args) throws InterruptedException {
        new Thread(Renames::changeTasks, "pool-thread-with-a-number-1").start();
        new Thread(Renames::burn, "music \uD834\uDD1E and other texts").start();
        Thread other = new Thread(Renames::burn, "first-name-of-the-other");
        other.start();
        Thread.sleep(100);
        other.setName("second-name-of-the-other");
        System.out.println("READY");
    }

    private static void changeTasks() {
        while (System.nanoTime() < END) {
            Thread.currentThread().setName("task-alpha-of-the-northern-shop");
            work(1_500_000);
            Thread.currentThread().setName("task-beta-of-the-southern-shop");
            work(500_000);
        }
    }

    private static void burn() {
        while (System.nanoTime() < END)
            work(100_000);
    }

    private static void work(int n) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += Math.sqrt(i);
        sink = sum;
    }
}
