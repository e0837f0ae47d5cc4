/** What is rewritten. Java 5 could run it: no lambdas here. Each call of all() does the same. */
class Subject {
    static int lines, spins;

    static int all() {
        int sum = returns(-1) + returns(0) + returns(1);
        for (int i = -1; i < 5; i++)
            sum += dense(i) * sparse(i * 100);
        sum += fibonacci(6) + catches() + finallies(false) + constructors();
        try {
            finallies(true);
        } catch (IllegalStateException e) {
            line(e);
        }
        sum += monitors();
        spins = 5;
        spin();
        return sum + (int) wide(1, 2.0, "3") + lines + new Defaults().set;
    }

    /** The line of the topmost frame, in a sum. */
    static void line(Throwable e) {
        lines = lines * 31 + e.getStackTrace()[0].getLineNumber();
    }

    static int returns(int i) {
        if (i < 0)
            return 1;
        if (i == 0)
            return 2;
        return 3;
    }

    static int dense(int i) {
        switch (i) {
            case 0:
                return 10;
            case 1:
            case 2:
                return 20;
            case 3:
                return 30;
            default:
                return 40;
        }
    }

    static int sparse(int i) {
        switch (i) {
            case 0:
                return 1;
            case 100:
                return 2;
            case 400:
                return 3;
            default:
                return 4;
        }
    }

    static int fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }

    static void fails(int[] of) {
        of[3]++;
    }

    static void passes() {
        fails(new int[2]);
    }

    static int catches() {
        try {
            passes();
            return 1;
        } catch (ArrayIndexOutOfBoundsException e) {
            line(e);
            return 2;
        }
    }

    static int finallies(boolean fail) {
        int n = 0;
        try {
            n++;
            if (fail)
                throw new IllegalStateException();
        } finally {
            n += 10;
        }
        return n;
    }

    synchronized int locked(boolean fail) {
        if (fail)
            throw new IllegalStateException();
        return 1;
    }

    static int monitors() {
        Subject s = new Subject();
        int n = s.locked(false);
        try {
            s.locked(true);
        } catch (IllegalStateException e) {
            line(e);
            n++;
        }
        synchronized (s) {
            n++;
        }
        return Thread.holdsLock(s) ? -1000 : n;
    }

    /** A loop that begins with the method: at offset 0. */
    static void spin() {
        while (spins-- > 0)
            ;
    }

    static double wide(long a, double b, String s) {
        double sum = a;
        for (long i = 0; i < 3; i++) {
            float f = 0.5f;
            sum += b * f + s.length();
        }
        return sum;
    }

    static int constructors() {
        int n = 0;
        for (int i = 0; i < 4; i++) {
            try {
                n += new Sub(i).set;
            } catch (IllegalStateException e) {
                line(e);
            }
        }
        return n;
    }

    static int argument(int how) {
        if (how == 0)
            throw new IllegalStateException();
        return how;
    }

    static void runs(Runnable r) {
        r.run();
    }

    static class Base {
        int set;

        Base(int how) {
            if (how == 1)
                throw new IllegalStateException();
            set = how;
        }
    }

    /** 0: fails before super(), 1: in it, 2: after it, 3: does not fail. */
    static class Sub extends Base {
        Sub(int how) {
            super(how > 2 ? argument(how) : argument(how) + 0);
            if (how == 2)
                throw new IllegalStateException();
        }
    }

    static class Defaults {
        final int set;

        Defaults() {
            this(7);
        }

        Defaults(int set) {
            this.set = set;
        }
    }
}
