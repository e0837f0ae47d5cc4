package target;

import java.util.ArrayList;
import java.util.List;

/**
 * Allocates objects of which some stay, for so many ms, at known sites: 'leak' keeps all of its own, a Kept with 4,000
 * bytes in each of its arrays; 'cache' keeps the latest CACHED of its own; 'drop' none of three times as much.  At the
 * end the JVM collects what it can, and it prints how many bytes of each there are then.
 */
public final class Keeps {
    private static final int PART_BYTES = 4_000, CACHED = 500;
    private static final List<Kept> kept = new ArrayList<>();
    private static final Cached[] cache = new Cached[CACHED];
    static volatile Object dropped;

    /* 24 bytes and an array of 4,000. */
    static final class Kept {
        final byte[] part = new byte[PART_BYTES - 16];
    }

    static final class Cached {
        final byte[] part = new byte[PART_BYTES - 16];
    }

    static final class Dropped {
        final byte[] part = new byte[PART_BYTES - 16];
    }

    static void leak() {
        kept.add(new Kept());
    }

    static void cache(int round) {
        cache[round % CACHED] = new Cached();
    }

    static void drop() {
        for (int i = 0; i < 3; i++)
            dropped = new Dropped();
    }

    public static void main(String[] arguments) throws InterruptedException {
        long end = System.nanoTime() + 1_000_000L * Long.parseLong(arguments[0]);
        int rounds = 0;
        for (; System.nanoTime() < end; rounds++) {
            leak();
            cache(rounds);
            drop();
            if (rounds % 8 == 0)
                Thread.sleep(1);
        }
        System.gc();
        long each = PART_BYTES + 16;
        System.out.println("kept " + kept.size() * each + " cached " + Math.min(rounds, CACHED) * each + " dropped "
                + 3L * rounds * each);
    }
}
