package target;

/**
 * Objects whose lifetimes are known, in data accesses of Java code. An array's initializer uses it once for each
 * element, each time as far from the time before as the first is from its creation, but for a push. A Box in compiled
 * code: a store to a static field, its card, 8 (Longer: 16) copies of a volatile field into another, and the store to the
 * Box: 19 (35).
 */
public final class Lives {
    static class Box {
        int x;
    }

    static final class Longer extends Box {
    }

    static volatile int from;
    static int to;
    static Box kept;
    static Object sink;

    static void box() {
        Box box = new Box();
        kept = box;
        copy4();
        copy4();
        box.x = 7;
    }

    static void longer() {
        Longer box = new Longer();
        kept = box;
        copy4();
        copy4();
        copy4();
        copy4();
        box.x = 7;
    }

    private static void copy4() {
        to = from;
        to = from;
        to = from;
        to = from;
    }

    static void arrays() {
        sink = new short[] { 1 };
        sink = new int[] { 1, 1 };
        sink = new char[] { 1, 1, 1 };
    }

    public static void main(String[] args) {
        int n = Integer.parseInt(args[0]);
        for (int i = 0; i < n; i++) {
            box();
            longer();
            arrays();
        }
    }
}
