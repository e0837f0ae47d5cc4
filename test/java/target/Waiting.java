package target;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that wait for known reasons for the seconds of its argument, and measure for how long: for a monitor, a lock
 * of java.util.concurrent, in Thread.sleep and Object.wait, for a socket and a queue.  Prints 'NAME ns' for each reason.
 */
public final class Waiting {
    private static final Object TABLE = new StringBuilder();
    private static final Object SIGNAL = new Object();
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final BlockingQueue<Integer> QUEUE = new ArrayBlockingQueue<>(1);
    private static final ConcurrentMap<String, Long> WAITED = new ConcurrentHashMap<>();
    private static volatile boolean isOver;

    private interface Step {
        void go() throws Exception;
    }

    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
        Socket service = server.accept();
        for (int i = 0; i < 3; i++) {
            repeat("entering-" + i, Waiting::enterMonitor);
            repeat("locking-" + i, Waiting::acquireLock);
        }
        repeat("asleep", Waiting::sleepAwhile);
        repeat("notified", Waiting::waitForSignal);
        repeat("taking", Waiting::takeNext);
        InputStream in = client.getInputStream();
        repeat("reading", () -> readReply(in));
        repeat("giver", () -> give(service));
        System.out.println("READY");
        Thread.sleep((long) (Double.parseDouble(args[0]) * 1000));
        isOver = true;
        new TreeMap<>(WAITED).forEach((name, ns) -> System.out.println(name + " " + ns));
        System.exit(0);
    }

    private static void repeat(String name, Step step) {
        Thread thread = new Thread(() -> {
            try {
                while (!isOver)
                    step.go();
            } catch (Exception e) {
                Thread.currentThread().interrupt();
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void waited(String name, long sinceNs) {
        WAITED.merge(name, System.nanoTime() - sinceNs, Long::sum);
    }

    private static void pause(int ms) throws InterruptedException {
        Thread.sleep(ms, ThreadLocalRandom.current().nextInt(1_000_000));
    }

    private static void enterMonitor() throws InterruptedException {
        long start = System.nanoTime();
        synchronized (TABLE) {
            waited("monitor", start);
            holdMonitor();
        }
        pauseBetween();
    }

    private static void acquireLock() throws InterruptedException {
        long start = System.nanoTime();
        LOCK.lock();
        try {
            waited("lock", start);
            holdLock();
        } finally {
            LOCK.unlock();
        }
        pauseBetween();
    }

    private static void holdMonitor() throws InterruptedException {
        long start = System.nanoTime();
        pause(20);
        waited("sleep", start);
    }

    private static void holdLock() throws InterruptedException {
        long start = System.nanoTime();
        pause(30);
        waited("sleep", start);
    }

    private static void pauseBetween() throws InterruptedException {
        long start = System.nanoTime();
        pause(15);
        waited("sleep", start);
    }

    private static void sleepAwhile() throws InterruptedException {
        long start = System.nanoTime();
        pause(25);
        waited("sleep", start);
    }

    private static void waitForSignal() throws InterruptedException {
        synchronized (SIGNAL) {
            long start = System.nanoTime();
            SIGNAL.wait();
            waited("object_wait", start);
        }
    }

    private static void takeNext() throws InterruptedException {
        long start = System.nanoTime();
        QUEUE.take();
        waited("park", start);
    }

    private static void readReply(InputStream in) throws IOException {
        long start = System.nanoTime();
        int reply = in.read();
        waited("socket", start);
        if (reply < 0)
            throw new IOException("the connection has ended");
    }

    private static void give(Socket to) throws IOException, InterruptedException {
        long start = System.nanoTime();
        pause(40);
        waited("sleep", start);
        to.getOutputStream().write(1);
        QUEUE.offer(1);
        synchronized (SIGNAL) {
            SIGNAL.notifyAll();
        }
    }
}
