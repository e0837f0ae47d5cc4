package target;

/**
 * Allocations of which it is known how often the bytecode makes them, and what C2 makes of them: Escapes ROUNDS. Each
 * method below allocates one object a round.
 */
final class Escapes {
    private static class Point {
        final long x;
        final long y;

        Point(long x, long y) {
            this.x = x;
            this.y = y;
        }
    }

    private static final class Partly extends Point {
        Partly(long x) {
            super(x, x);
        }
    }

    private static final class Lasting extends Point {
        Lasting(long x) {
            super(x, x);
        }
    }

    private static final int BATCH = 1000;
    private static Object kept;
    private static long sink;

    private Escapes() {}

    /* Never escapes: C2 removes it. */
    private static long removed(long a) {
        Point p = new Point(a, a + 1);
        return p.x * p.y;
    }

    /* Escapes in four of five rounds (Zheng, figure 10): C2 has no partial escape analysis. */
    private static long partly(long a) {
        Partly p = new Partly(a);
        if (a % 5 != 0) {
            kept = p;
        }
        return p.x;
    }

    private static long lasting(long a) {
        kept = new Lasting(a);
        return a;
    }

    private static int[] copied(int[] from) {
        return java.util.Arrays.copyOf(from, 8);
    }

    private static long all(long round, int[] from) {
        kept = copied(from);
        return removed(round) + partly(round) + lasting(round);
    }

    private static void batch(int begin, int end, int[] from) {
        for (int i = begin; i < end; i++) {
            sink += all(i, from);
        }
    }

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        int[] from = new int[8];
        for (int i = 0; i < rounds; i += BATCH) {
            batch(i, Math.min(rounds, i + BATCH), from);
        }
        System.err.println("sum " + sink);
    }
}
