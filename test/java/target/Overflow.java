package target;

import java.util.ArrayList;
import java.util.List;

/**
 * Programs that run out of something inside methods with probes.  The argument says which; what is printed does not
 * depend on whether the methods have probes.
 */
public final class Overflow {
    private static final Object LOCK = new Object();
    private static long sum;
    private static int depth;

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
        case "stack":
            stack(Integer.parseInt(args[1]));
            break;
        case "memory":
            memory(Integer.parseInt(args[1]));
            break;
        case "exit":
            exit(20);
            break;
        case "stop":
            stop();
            break;
        default:
            throw new IllegalArgumentException(args[0]);
        }
    }

    /* ---- the stack: caught at the bottom, half way down, and in each method that holds a lock ---- */

    private static void stack(int rounds) throws InterruptedException {
        Overflow monitor = new Overflow();
        long caught = 0;
        for (int i = 0; i < rounds; i++) {
            caught += plain(0);
            caught += monitor.locked(0);
            caught += block(0);
            caught += halfWay(400);
            caught += last(0);
        }
        System.out.println("STACK caught " + caught + " of " + rounds * 5L);
        System.out.println("LOCKS " + (isFree(monitor) && isFree(LOCK) ? "free" : "HELD"));
        System.out.println("SUM " + count(1000));
    }

    private static int plain(int n) {
        depth = 0;
        try {
            return deeper(n);
        } catch (StackOverflowError e) {
            return depth > 100 ? 1 : 0;
        }
    }

    private static int deeper(int n) {
        depth++;
        int more = 0;
        for (int i = 0; i < 1; i++)
            more += deeper(n + 1);
        return more + 1;
    }

    private synchronized int locked(int n) {
        int more = 0;
        try {
            for (int i = 0; i < 1; i++)
                more += locked(n + 1);
        } catch (StackOverflowError e) {
            if (n != 0)
                throw e;
            return 1;
        }
        return more;
    }

    private static int block(int n) {
        int more = 0;
        for (int i = 0; i < 1; i++)
            synchronized (LOCK) {
                try {
                    more += block(n + 1);
                } catch (StackOverflowError e) {
                    if (n != 0)
                        throw e;
                    return 1;
                } finally {
                    depth = n;
                }
            }
        return more;
    }

    private static int halfWay(int n) {
        for (int i = 0; i < 1; i++)
            if (n > 0)
                return halfWay(n - 1);
        return plain(0);
    }

    /* Each frame on the way out catches, goes down again a little, and passes the error on. */
    private static int last(int n) {
        int more = 0;
        try {
            for (int i = 0; i < 1; i++)
                more += last(n + 1);
        } catch (StackOverflowError e) {
            if (n != 0) {
                more += n % 64 == 0 ? count(3) : 0;
                throw e;
            }
            return 1;
        }
        return more;
    }

    private static int count(int n) {
        int x = 0;
        for (int i = 0; i < n; i++)
            x += i;
        return x;
    }

    /* Another thread gets the lock at once. */
    private static boolean isFree(Object lock) throws InterruptedException {
        Thread other = new Thread(() -> {
            synchronized (lock) {
                sum++;
            }
        });
        other.setDaemon(true);
        other.start();
        other.join(5000);
        return !other.isAlive();
    }

    /* ---- the heap ---- */

    private static void memory(int rounds) {
        int caught = 0;
        for (int i = 0; i < rounds; i++) {
            List<byte[]> all = new ArrayList<>();
            try {
                fill(all);
            } catch (OutOfMemoryError e) {
                all.clear();
                caught++;
            }
        }
        System.out.println("MEMORY caught " + caught + " of " + rounds);
    }

    private static void fill(List<byte[]> all) {
        for (int kb = 1024;;)
            all.add(piece(kb));
    }

    private static byte[] piece(int kb) {
        byte[] bytes = new byte[kb << 10];
        for (int i = 0; i < bytes.length; i += 4096)
            bytes[i] = 1;
        return bytes;
    }

    /* ---- the end, in the middle of everything ---- */

    private static void exit(int n) throws InterruptedException {
        for (int i = 0; i < 4; i++) {
            Thread daemon = new Thread(() -> {
                for (;;)
                    sum += count(100);
            });
            daemon.setDaemon(true);
            daemon.start();
        }
        Thread.sleep(200);
        down(n);
    }

    private static void down(int n) {
        for (int i = 0; i < 1; i++)
            if (n > 0)
                down(n - 1);
            else
                System.exit(42);
    }

    /* ---- Thread.stop, where there still is one ---- */

    @SuppressWarnings({"deprecation", "removal"})
    private static void stop() throws InterruptedException {
        int dead = 0;
        for (int i = 0; i < 20; i++) {
            Thread victim = new Thread(() -> {
                try {
                    for (;;)
                        synchronized (LOCK) {
                            sum += count(100);
                        }
                } catch (ThreadDeath e) {
                    depth = -1;
                }
            });
            victim.start();
            Thread.sleep(20);
            victim.stop();
            victim.join(5000);
            dead += victim.isAlive() ? 0 : 1;
        }
        System.out.println("STOPPED " + dead + " of 20");
        System.out.println("LOCKS " + (isFree(LOCK) ? "free" : "HELD"));
        Runtime.getRuntime().halt(0);
    }
}
