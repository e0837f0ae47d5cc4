package target;

/**
 * An array of 512 KB that is walked in each of some rounds, in an L2 that has room for it; a full collection, which
 * marks 4 MB of small objects, comes before each.
 */
public final class Evicted {
    private static final long[] array = new long[64 << 10];
    private static final Object[] kept = new Object[200_000];

    public static void main(String[] args) {
        long sum = 0;
        for (int i = 0; i < kept.length; i++)
            kept[i] = new int[1];
        System.gc();
        for (int round = 0; round < 10; round++) {
            System.gc();
            sum += walk();
        }
        System.out.println(sum);
    }

    private static long walk() {
        long sum = 0;
        for (int i = 0; i < array.length; i += 8)
            sum += array[i];
        return sum;
    }
}
