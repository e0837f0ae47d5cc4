/** Counts per token. */
public final class Probe {
    static final int[] enters = new int[1000], exits = new int[1000], unwinds = new int[1000];

    private Probe() {}

    public static int enter(int token) {
        enters[token]++;
        return token;
    }

    public static void exit(int token) {
        exits[token]++;
    }

    public static void unwind(int token) {
        unwinds[token]++;
    }

    /** A method caught an exception and goes on. */
    public static void caught(int token) {
        if (enters[token] <= exits[token] + unwinds[token] && token != 0)
            throw new IllegalStateException("caught outside of a call of " + token);
    }
}
