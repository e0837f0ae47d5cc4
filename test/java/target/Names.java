package target;

/**
 * Names that Java's compiler refuses, but the JVM takes, as Kotlin and Groovy make them: a test writes other bytes over two
 * of them.  A letter beyond U+FFFF, and a thread whose name the kernel cuts amid a character.
 */
public final class Names {
    private static long sum;

    public static void main(String[] args) throws InterruptedException {
        Thread thread = new Thread(Names::run, "é".repeat(12));
        thread.start();
        thread.join();
        if (sum != 9 * 4950)
            throw new AssertionError(sum);
    }

    private static void run() {
        for (int i = 0; i < 3; i++)
            sum += adds__positive__numbers(100) + resets__a__terminal(100) + \ud835\udcb3work(100);
    }

    private static long adds__positive__numbers(int n) {
        long s = 0;
        for (int i = 0; i < n; i++)
            s += i;
        return s;
    }

    private static long resets__a__terminal(int n) {
        long s = 0;
        for (int i = 0; i < n; i++)
            s += i;
        return s;
    }

    private static long \ud835\udcb3work(int n) {
        long s = 0;
        for (int i = 0; i < n; i++)
            s += i;
        return s;
    }
}
