package bench;

/**
 * What a profiler does to code that lives from inlining and escape analysis: small getters, and methods that return
 * small new objects, 42 calls in each iteration, none of which allocates once C2 has compiled it.  Prints 'NS x' once a
 * second, the mean over that second in ns per iteration, and 'RESULT x'.  Arguments: seconds (10), seconds before that
 * in which nothing is printed (2).
 */
public final class Accessors {
    private static final class Pair {
        private final int left, right;

        Pair(int left, int right) {
            this.left = left;
            this.right = right;
        }

        int left() {
            return left;
        }

        int right() {
            return right;
        }

        Pair swap() {
            return new Pair(right(), left());
        }

        Pair plus(Pair other) {
            return new Pair(left() + other.left(), right() ^ other.right());
        }

        int sum() {
            return left() + right();
        }
    }

    public static void main(String[] args) {
        int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 10;
        int before = args.length > 1 ? Integer.parseInt(args[1]) : 2;
        int result = 1;
        for (int second = -before; second < seconds; second++) {
            long start = System.nanoTime(), rounds = 0, now;
            do {
                result = round(result);
                rounds++;
                now = System.nanoTime();
            } while (now - start < 1_000_000_000);
            if (second >= 0)
                System.out.printf("NS %.3f%n", (double) (now - start) / rounds / ITERATIONS);
        }
        System.out.println("RESULT " + result);
    }

    private static final int ITERATIONS = 100_000;

    /** About half a millisecond. */
    static int round(int x) {
        for (int i = 0; i < ITERATIONS; i++)
            x = iteration(x, i);
        return x;
    }

    /** 42 calls; over 50 bytes of bytecode. */
    static int iteration(int x, int i) {
        Pair a = new Pair(x, i), b = new Pair(i, x);
        Pair c = a.plus(b), d = c.swap(), e = d.plus(a);
        int y = e.sum() + c.left();
        y ^= d.right() + a.left() * 31;
        y += b.left() - b.right() + c.sum();
        y ^= e.swap().left() + d.sum();
        return y + a.swap().right();
    }
}
