package target;

import java.io.File;

/*
 * A method whose compiled code HotSpot discards again and again: each round takes a branch that C2 has never seen taken,
 * and so has left out.
 *
 *     Storms MODE ROUNDS FILE
 *
 * MODE: 'faulty'; 'mended': all branches are taken before the first round; 'never': rounds differ by a number.  Ends
 * when FILE is there.
 */
public class Storms {
    static final int CALLS = 120000;

    static int faulty(int kind, int x) {
        for (int i = 0; i < 1000; i++)
            x = x * 31 + i;
        if (kind > 0) {
            if (kind == 1) x ^= 3;
            if (kind == 2) x ^= 5;
            if (kind == 3) x ^= 7;
            if (kind == 4) x ^= 9;
            if (kind == 5) x ^= 11;
            if (kind == 6) x ^= 13;
            if (kind == 7) x ^= 15;
            if (kind == 8) x ^= 17;
            if (kind == 9) x ^= 19;
            if (kind == 10) x ^= 21;
            if (kind == 11) x ^= 23;
            if (kind == 12) x ^= 25;
            if (kind == 13) x ^= 27;
            if (kind == 14) x ^= 29;
            if (kind == 15) x ^= 31;
            if (kind == 16) x ^= 33;
            if (kind == 17) x ^= 35;
            if (kind == 18) x ^= 37;
            if (kind == 19) x ^= 39;
            if (kind == 20) x ^= 41;
            if (kind == 21) x ^= 43;
            if (kind == 22) x ^= 45;
            if (kind == 23) x ^= 47;
            if (kind == 24) x ^= 49;
        }
        return x;
    }

    static int steady(int kind, int x) {
        for (int i = 0; i < 1000; i++)
            x = x * 31 + i;
        return x ^ (2 * kind + 1);
    }

    static int round(boolean isSteady, int least, int most) {
        int sum = 0;
        for (int i = 0; i < CALLS; i++) {
            int kind = least + i % (most - least + 1);
            sum += isSteady ? steady(kind, sum) : faulty(kind, sum);
        }
        return sum;
    }

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[1]);
        boolean isSteady = arguments[0].equals("never");
        int sum = round(isSteady, arguments[0].equals("mended") ? 1 : 0, arguments[0].equals("mended") ? rounds : 0);
        for (int i = 1; i <= rounds; i++)
            sum += round(isSteady, i, i);
        System.out.println("done " + sum);
        while (!new File(arguments[2]).exists())
            Thread.sleep(10);
    }
}
