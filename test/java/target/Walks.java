package target;

/**
 * Loops whose cache misses are known. Arguments: rounds (1). With lines of 64 bytes, an L1 of 32 KB and an L2 of 1 MB:
 * walk touches 131,072 lines in order, jump reads 65,536 of 65,536 lines in an order that no cache knows, stay reads
 * 4 KB again and again, calls calls a method that reads them. Stack overflows and null pointers come through signals.
 */
public final class Walks {
    private static final int LINE_LONGS = 8, WALKED = 1 << 20, LINES = 1 << 16;
    private static int depth;

    private int value = 1;

    public static void main(String[] args) {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 1;
        long[] walked = new long[WALKED], jumped = new long[LINES * LINE_LONGS], small = new long[512];
        long sum = 0;
        for (int i = 0; i < rounds; i++)
            sum += walk(walked) + jump(jumped, i) + stay(small) + calls(small);
        System.out.println(sum + " " + overflows(10) + " " + nulls(1000));
    }

    private static long walk(long[] array) {
        long sum = 0;
        for (int i = 0; i < array.length; i++)
            sum += array[i];
        return sum;
    }

    private static long jump(long[] array, int seed) {
        long sum = 0;
        int line = seed;
        for (int i = 0; i < LINES; i++) {
            line = line * 1664525 + 1013904223;
            sum += array[(line >>> 16) * LINE_LONGS];
        }
        return sum;
    }

    private static long stay(long[] array) {
        long sum = 0;
        for (int round = 0; round < 200; round++)
            for (int i = 0; i < array.length; i++)
                sum += array[i];
        return sum;
    }

    /** 20,000 calls, whose records would fill L1 many times over. */
    private static long calls(long[] array) {
        long sum = 0;
        for (int i = 0; i < 20000; i++)
            sum += called(array, i);
        return sum;
    }

    private static long called(long[] array, int i) {
        return array[i % array.length];
    }

    private static void down() {
        depth++;
        down();
    }

    private static int overflows(int n) {
        int caught = 0;
        for (int i = 0; i < n; i++)
            try {
                down();
            } catch (StackOverflowError e) {
                caught++;
            }
        return caught;
    }

    private static int nulls(int n) {
        int caught = 0;
        for (int i = 0; i < n; i++) {
            Walks walks = i % 2 == 0 ? null : new Walks();
            try {
                depth += walks.value;
            } catch (NullPointerException e) {
                caught++;
            }
        }
        return caught;
    }
}
