package target;

import java.io.InputStream;
import java.util.TreeMap;

/**
 * What compiles badly while classes come and go: hot methods of classes that one loader after the other defines and
 * that are unloaded, and of classes that an agent retransforms meanwhile (Patched).  Argument: rounds (60).
 */
public final class Driven {
    /** Defined anew in each round. */
    public static final class Work implements Runnable {
        private int sum;

        private int step(int i) {
            return i % 3 == 0 ? i >> 1 : -(i >> 2);
        }

        @Override
        public void run() {
            for (int i = 0; i < 20_000; i++)
                sum += step(i);
            if (sum != 3333)
                System.out.println("WRONG sum " + sum);
        }
    }

    private static final class Child extends ClassLoader {
        private final byte[] code;

        Child(byte[] code) {
            super(Driven.class.getClassLoader());
            this.code = code;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            boolean isOurs = name.equals("target.Driven$Work");
            return isOurs ? defineClass(name, code, 0, code.length) : super.loadClass(name, resolve);
        }
    }

    private static void change() {
        TreeMap<Integer, Integer> map = new TreeMap<>();
        for (int i = 0; i < 3000; i++)
            map.merge(i % 10, i, Integer::sum);
        if (map.get(3) != 449_400)
            System.out.println("WRONG " + map.get(3));
    }

    public static void main(String[] args) throws Exception {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
        byte[] code;
        try (InputStream in = Driven.class.getResourceAsStream("Driven$Work.class")) {
            code = in.readAllBytes();
        }
        for (int round = 0; round < rounds; round++) {
            ((Runnable) new Child(code).loadClass("target.Driven$Work").getDeclaredConstructor().newInstance()).run();
            for (int i = 0; i < 10; i++)
                change();
            if (Patched.Subject.word(100).length() != 5)
                System.out.println("WRONG word");
            if (round % 10 == 9)
                System.gc();
        }
        System.out.println("DONE " + rounds);
    }
}
