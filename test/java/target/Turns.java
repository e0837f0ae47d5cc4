package target;

import java.util.Random;

/*
 * Lists of two classes, in random order; the one is walked so many times, and then the other.
 *
 *     java target.Turns NODES ROUNDS
 */
public final class Turns {
    static final class First {
        First next;
        long value;
    }

    static final class Second {
        Second next;
        long value;
    }

    private static First first;
    private static Second second;

    private static void make(int n) {
        First[] firsts = new First[n];
        Second[] seconds = new Second[n];
        for (int i = 0; i < n; i++) {
            firsts[i] = new First();
            seconds[i] = new Second();
        }
        Random random = new Random(17);
        for (int i = 0; i < n; i++) {
            int k = i + random.nextInt(n - i);
            First f = firsts[k];
            firsts[k] = firsts[i];
            f.next = first;
            first = f;
            Second s = seconds[k];
            seconds[k] = seconds[i];
            s.next = second;
            second = s;
        }
    }

    static long walkFirst() {
        long sum = 0;
        for (First f = first; f != null; f = f.next)
            sum += f.value;
        return sum;
    }

    static long walkSecond() {
        long sum = 0;
        for (Second s = second; s != null; s = s.next)
            sum += s.value;
        return sum;
    }

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[1]);
        long sum = 0;
        make(Integer.parseInt(args[0]));
        for (int i = 0; i < rounds; i++)
            sum += walkFirst();
        for (int i = 0; i < rounds; i++)
            sum += walkSecond();
        System.out.println("SUM " + sum);
    }
}
