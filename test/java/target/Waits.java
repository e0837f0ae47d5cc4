package target;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that wait in known ways, for the seconds of its argument: parked, asleep, for a monitor, for a connection; and
 * one that computes and sleeps in turn, 20 ms each.
 */
public final class Waits {
    private static final Object LOCK = new Object();
    private static volatile long sink;
    private static volatile boolean isOver;

    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        start("parked", Waits::park);
        start("accepting", () -> accept(server));
        start("turns", Waits::turns);
        synchronized (LOCK) {
            start("blocked", Waits::block);
            System.out.println("READY");
            Thread.sleep((long) (Double.parseDouble(args[0]) * 1000));
        }
        isOver = true;
        server.close();
    }

    private static void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void park() {
        while (!isOver)
            LockSupport.park();
    }

    private static void accept(ServerSocket server) {
        try {
            server.accept().close();
        } catch (IOException e) {
            sink++; // closed at the end
        }
    }

    private static void block() {
        synchronized (LOCK) {
            sink++;
        }
    }

    private static void turns() {
        while (!isOver) {
            compute();
            rest();
        }
    }

    private static void compute() {
        long end = System.nanoTime() + 20_000_000, sum = sink;
        while (System.nanoTime() < end)
            for (int i = 0; i < 1000; i++)
                sum = sum * 31 + i;
        sink = sum;
    }

    private static void rest() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
