package target;

/**
 * Objects whose lives are known: used once at once, used again after loops of known lengths, kept through collections
 * that move them and used after those, and dropped before.
 */
public final class Follow {
    static final int STEP = 5000;
    static final int KEPT = 100;
    static final int GONE = 1000;

    static final class Late {
        int x;
    }

    static final class Kept {
        int x;
    }

    static final class Gone {
        int x;
    }

    static final int[] data = new int[1024];
    static Object sink;

    /** Reads n elements. */
    static int walk(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++)
            sum += data[i & 1023];
        return sum;
    }

    static int late(int steps) {
        Late late = new Late();
        int sum = walk(steps * STEP);
        late.x = sum;
        return sum;
    }

    static void gone() {
        for (int i = 0; i < GONE; i++) {
            Gone gone = new Gone();
            gone.x = i;
            sink = gone;
        }
        sink = null;
    }

    static Kept[] keep() {
        Kept[] kept = new Kept[KEPT];
        for (int i = 0; i < KEPT; i++)
            kept[i] = new Kept();
        return kept;
    }

    static void use(Kept[] kept) {
        for (Kept k : kept)
            k.x++;
    }

    /** Young collections: some 24 MB. */
    static void allocate() {
        for (int i = 0; i < 24 * 16; i++)
            sink = new byte[65536];
        sink = null;
    }

    public static void main(String[] args) {
        int sum = 0;
        for (int round = 0; round < 2; round++)
            for (int steps = 0; steps < 4; steps++)
                sum += late(steps);
        Kept[] kept = keep();
        gone();
        allocate();
        sum += walk(STEP);
        use(kept);
        System.gc();
        sum += walk(STEP);
        use(kept);
        System.out.println(sum + kept[KEPT - 1].x);
    }
}
