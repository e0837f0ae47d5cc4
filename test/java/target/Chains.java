package target;

import java.util.Arrays;

/**
 * Small methods that call each other in known ways, so that much of the time is in their prologues and epilogues: to be
 * run with -XX:CompileCommand=dontinline,target.Chains*::*, until it is ended.
 */
public final class Chains {
    interface Step {
        long go(long x);
    }

    static final class First implements Step {
        public long go(long x) {
            return x + 1;
        }
    }

    static final class Second implements Step {
        public long go(long x) {
            return x ^ 3;
        }
    }

    static final class Third implements Step {
        public long go(long x) {
            return x * 31;
        }
    }

    private static final Step[] STEPS = { new First(), new Second(), new Third() };
    private static final long[] VALUES = new long[80];
    private static volatile long sink;

    public static void main(String[] args) {
        System.out.println("READY");
        for (long i = 0;; i++) {
            sink += one(i);
            sink += large(i);
            sink += steps(i);
            sink += down(i, 9);
            sink += copies();
            sink += clock();
        }
    }

    static long one(long x) {
        return two(x) + 1;
    }

    static long two(long x) {
        return three(x) ^ 5;
    }

    static long three(long x) {
        return four(x) * 3;
    }

    static long four(long x) {
        return x % 7;
    }

    /** Its frame is larger than what one instruction stores into. */
    static long large(long x) {
        long[] v = VALUES;
        long a0 = v[0], a1 = v[1], a2 = v[2], a3 = v[3], a4 = v[4], a5 = v[5], a6 = v[6], a7 = v[7];
        long a8 = v[8], a9 = v[9], a10 = v[10], a11 = v[11], a12 = v[12], a13 = v[13], a14 = v[14], a15 = v[15];
        long a16 = v[16], a17 = v[17], a18 = v[18], a19 = v[19], a20 = v[20], a21 = v[21], a22 = v[22], a23 = v[23];
        long a24 = v[24], a25 = v[25], a26 = v[26], a27 = v[27], a28 = v[28], a29 = v[29], a30 = v[30], a31 = v[31];
        long a32 = v[32], a33 = v[33], a34 = v[34], a35 = v[35], a36 = v[36], a37 = v[37], a38 = v[38], a39 = v[39];
        long a40 = v[40], a41 = v[41], a42 = v[42], a43 = v[43], a44 = v[44], a45 = v[45], a46 = v[46], a47 = v[47];
        long a48 = v[48], a49 = v[49], a50 = v[50], a51 = v[51], a52 = v[52], a53 = v[53], a54 = v[54], a55 = v[55];
        long a56 = v[56], a57 = v[57], a58 = v[58], a59 = v[59], a60 = v[60], a61 = v[61], a62 = v[62], a63 = v[63];
        long a64 = v[64], a65 = v[65], a66 = v[66], a67 = v[67], a68 = v[68], a69 = v[69], a70 = v[70], a71 = v[71];
        long a72 = v[72], a73 = v[73], a74 = v[74], a75 = v[75], a76 = v[76], a77 = v[77], a78 = v[78], a79 = v[79];
        long y = four(x);
        v[(int) (x & 7)] = y;
        return y + a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 +
            a8 + a9 + a10 + a11 + a12 + a13 + a14 + a15 +
            a16 + a17 + a18 + a19 + a20 + a21 + a22 + a23 +
            a24 + a25 + a26 + a27 + a28 + a29 + a30 + a31 +
            a32 + a33 + a34 + a35 + a36 + a37 + a38 + a39 +
            a40 + a41 + a42 + a43 + a44 + a45 + a46 + a47 +
            a48 + a49 + a50 + a51 + a52 + a53 + a54 + a55 +
            a56 + a57 + a58 + a59 + a60 + a61 + a62 + a63 +
            a64 + a65 + a66 + a67 + a68 + a69 + a70 + a71 +
            a72 + a73 + a74 + a75 + a76 + a77 + a78 + a79;
    }

    static long steps(long x) {
        long sum = 0;
        for (Step step : STEPS)
            sum += step.go(x);
        return sum;
    }

    static long down(long x, int n) {
        return n == 0 ? x : down(x + n, n - 1) + 1;
    }

    static long copies() {
        return Arrays.copyOf(VALUES, 40)[3];
    }

    static long clock() {
        return System.nanoTime();
    }
}
