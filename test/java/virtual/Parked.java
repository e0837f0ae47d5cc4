package virtual;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * So many virtual threads that wait in three known places: of 10, 5 sleep, 3 wait for a queue and 2 for a lock.  Prints
 * READY when all of them are there, and stays until it is killed.  With "executor" an executor starts them; with
 * "churn" another thread makes garbage all the time.
 */
public class Parked {
    static final LinkedBlockingQueue<Object> queue = new LinkedBlockingQueue<>();
    static final ReentrantLock lock = new ReentrantLock();

    static void sleeps() {
        try {
            Thread.sleep(TimeUnit.HOURS.toMillis(1));
        } catch (InterruptedException e) {
            return;
        }
    }

    static void takes() {
        try {
            queue.take();
        } catch (InterruptedException e) {
            return;
        }
    }

    static void locks() {
        lock.lock();
        lock.unlock();
    }

    static void waits(int number) {
        int place = number % 10;
        if (place < 5)
            sleeps();
        else if (place < 8)
            takes();
        else
            locks();
    }

    /** All of them have left their carriers: what waits for the lock has queued, and the rest follows soon. */
    static void await(Thread[] threads) throws InterruptedException {
        for (Thread thread : threads)
            while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.TIMED_WAITING)
                Thread.sleep(1);
    }

    static volatile Object latest;

    /** Some of it lives for a while, so that collections have something to move. */
    static void churn() {
        Object[] kept = new Object[4096];
        for (int i = 0; ; i++)
            latest = kept[i % kept.length] = new byte[1024];
    }

    public static void main(String[] args) throws Exception {
        String how = args.length > 1 ? args[1] : "";
        int n = Integer.parseInt(args[0]);
        Thread[] threads = new Thread[n];
        CountDownLatch started = new CountDownLatch(n);
        ExecutorService executor = how.equals("executor") ? Executors.newVirtualThreadPerTaskExecutor() : null;
        lock.lock();
        for (int i = 0; i < n; i++) {
            int number = i;
            Runnable task = () -> {
                threads[number] = Thread.currentThread();
                started.countDown();
                waits(number);
            };
            if (executor != null)
                executor.submit(task);
            else
                Thread.ofVirtual().start(task);
        }
        started.await();
        await(threads);
        if (how.equals("churn"))
            Thread.ofPlatform().daemon().start(Parked::churn);
        System.out.println("READY");
        Thread.currentThread().join();
    }
}
