package target;

import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Calls of which one in a hundred is slow for a known reason, and calls of which none is. Arguments: for how many
 * seconds, how many ms a slow one takes longer, and the methods to call (all). Prints "METHOD CALLS" for each.
 */
public final class Tail {
    private static final Object MONITOR = new Object();
    private static final ReentrantReadWriteLock TARIFFS = new ReentrantReadWriteLock();
    private static final LinkedBlockingQueue<Object> RESULTS = new LinkedBlockingQueue<>();
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final List<Object> live = new ArrayList<>();
    private static final LinkedBlockingQueue<Kind> JOBS = new LinkedBlockingQueue<>();
    private static final LinkedBlockingQueue<Kind> BEGUN = new LinkedBlockingQueue<>();
    private static InputStream input;
    private static OutputStream output;
    private static volatile long sink;
    private static long slowMs;

    private interface Call {
        void run(boolean isSlow) throws Exception;
    }

    private enum Kind {
        STEADY(false, Tail::steady),
        SLEEPS(false, Tail::sleeps),
        ENTERS(true, Tail::enters),
        LOCKS(true, Tail::locks),
        TAKES(true, Tail::takes),
        READS(true, Tail::reads),
        COLLECTS(false, Tail::collects),
        COMPUTES(false, Tail::computes);

        final boolean hasHelp;
        final Call call;
        int calls;

        Kind(boolean hasHelp, Call call) {
            this.hasHelp = hasHelp;
            this.call = call;
        }
    }

    /** What all calls do: little. */
    private static void work() {
        for (int i = 0; i < 20_000; i++)
            sink += i;
    }

    static void steady(boolean isSlow) {
        work();
    }

    static void sleeps(boolean isSlow) throws Exception {
        work();
        if (isSlow)
            Thread.sleep(slowMs);
    }

    static void enters(boolean isSlow) {
        synchronized (MONITOR) {
            work();
        }
    }

    static void locks(boolean isSlow) {
        TARIFFS.readLock().lock();
        work();
        TARIFFS.readLock().unlock();
    }

    static void takes(boolean isSlow) throws Exception {
        work();
        if (isSlow)
            RESULTS.take();
    }

    static void reads(boolean isSlow) throws Exception {
        work();
        if (isSlow)
            input.read();
    }

    static void collects(boolean isSlow) {
        work();
        if (isSlow)
            System.gc();
    }

    static void computes(boolean isSlow) {
        long end = THREADS.getCurrentThreadCpuTime() + slowMs * 1_000_000;
        do
            work();
        while (isSlow && THREADS.getCurrentThreadCpuTime() < end);
    }

    /** The other thread: does for a while what makes a call slow. */
    private static void help() {
        try {
            while (true)
                refresh(JOBS.take());
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void refresh(Kind job) throws Exception {
        if (job == Kind.ENTERS) {
            synchronized (MONITOR) {
                BEGUN.add(job);
                Thread.sleep(slowMs);
            }
            return;
        }
        if (job == Kind.LOCKS)
            TARIFFS.writeLock().lock();
        BEGUN.add(job);
        Thread.sleep(slowMs);
        if (job == Kind.LOCKS)
            TARIFFS.writeLock().unlock();
        if (job == Kind.TAKES)
            RESULTS.add(job);
        if (job == Kind.READS)
            output.write(1);
    }

    private static void connect() throws Exception {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
        output = client.getOutputStream();
        input = server.accept().getInputStream();
    }

    /** A hundred calls, the one in the middle slow. */
    private static void callHundred(Kind kind) throws Exception {
        for (int i = 0; i < 100; i++) {
            boolean isSlow = i == 50 && kind != Kind.STEADY;
            if (isSlow && kind.hasHelp) {
                JOBS.add(kind);
                BEGUN.take();
            }
            kind.call.run(isSlow);
        }
        kind.calls += 100;
    }

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000;
        slowMs = Long.parseLong(args[1]);
        List<String> only = Arrays.asList(args).subList(2, args.length);
        connect();
        for (int i = 0; i < 300_000; i++)
            live.add(new int[] { i });
        Thread helper = new Thread(Tail::help, "helper");
        helper.setDaemon(true);
        helper.start();
        System.out.println("UP");
        while (System.nanoTime() < end)
            for (Kind kind : Kind.values())
                if (only.isEmpty() || only.contains(kind.name().toLowerCase()))
                    callHundred(kind);
        for (Kind kind : Kind.values())
            System.out.println(kind.name().toLowerCase() + " " + kind.calls);
    }
}
