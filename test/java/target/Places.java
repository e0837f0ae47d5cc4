package target;

/**
 * Objects of two classes that stand in turns: a walk reads those of one of them only, of 32 bytes, where 120 bytes of
 * others stand between them.
 */
public final class Places {
    static final int N = 20000;
    static final int WALKS = 20;

    static final class Hot {
        Hot next;
        long value, unused;
    }

    static final class Cold {
        long a, b, c, d, e, f, g, h, i, j;
    }

    static final class Pair {
        Hot hot;
        Cold cold;
        Pair next;
    }

    static Pair pairs;
    static Object sink;

    static void make() {
        for (int i = 0; i < N; i++) {
            Pair pair = new Pair();
            pair.hot = new Hot();
            pair.cold = new Cold();
            pair.hot.value = i;
            pair.hot.next = pairs == null ? null : pairs.hot;
            pair.next = pairs;
            pairs = pair;
        }
    }

    static long walk() {
        long sum = 0;
        for (Hot hot = pairs.hot; hot != null; hot = hot.next)
            sum += hot.value;
        return sum;
    }

    /** Young collections: some 32 MB. */
    static void allocate() {
        for (int i = 0; i < 512; i++)
            sink = new byte[65536];
        sink = null;
    }

    public static void main(String[] args) {
        long sum = 0;
        make();
        for (int i = 0; i < WALKS; i++)
            sum += walk();
        allocate();
        for (int i = 0; i < WALKS; i++)
            sum += walk();
        System.out.println(sum);
    }
}
