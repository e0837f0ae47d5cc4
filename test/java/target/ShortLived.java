package target;

import java.util.Iterator;

/**
 * Objects that are created only to pass something on: what 'mmprof memtrace --last-uses' is to find, and what one gets
 * when they are gone. Calls that matter have three receivers, so that C2 does not inline them and the objects are real.
 *
 *     java target.ShortLived boxed|iterator|builder [fixed [ROUNDS]]
 */
public class ShortLived {
    static final int ITEMS = 64;

    // ---- a value that is returned in a box ----

    abstract static class Tariff {
        final int[] prices = new int[ITEMS];

        Tariff(int first) {
            for (int i = 0; i < ITEMS; i++)
                prices[i] = 1000 + first * i;
        }

        abstract Integer boxed(int item);

        abstract int plain(int item);
    }

    static class Retail extends Tariff {
        Retail() {
            super(3);
        }

        @Override
        Integer boxed(int item) {
            return prices[item] * 2;
        }

        @Override
        int plain(int item) {
            return prices[item] * 2;
        }
    }

    static class Trade extends Tariff {
        Trade() {
            super(5);
        }

        @Override
        Integer boxed(int item) {
            return prices[item] + 7;
        }

        @Override
        int plain(int item) {
            return prices[item] + 7;
        }
    }

    static class Staff extends Tariff {
        Staff() {
            super(7);
        }

        @Override
        Integer boxed(int item) {
            return prices[item] - 100;
        }

        @Override
        int plain(int item) {
            return prices[item] - 100;
        }
    }

    static final Tariff[] tariffs = { new Retail(), new Trade(), new Staff() };

    static long sumPrices(boolean isFixed) {
        long sum = 0;
        for (int i = 0; i < 3 * ITEMS; i++) {
            Tariff tariff = tariffs[i % 3];
            if (isFixed)
                sum += tariff.plain(i / 3);
            else
                sum += tariff.boxed(i / 3);
        }
        return sum;
    }

    // ---- an iterator over what has indexes ----

    abstract static class Row implements Iterable<String> {
        abstract String cell(int i);

        abstract int cells();
    }

    static class Letters extends Row {
        static final String[] all = { "a", "bc", "def", "ghij" };

        @Override
        String cell(int i) {
            return all[i];
        }

        @Override
        int cells() {
            return all.length;
        }

        @Override
        public Iterator<String> iterator() {
            return new Cells(this);
        }
    }

    static class Digits extends Letters {
        @Override
        public Iterator<String> iterator() {
            return new Cells(this);
        }
    }

    static class Signs extends Letters {
        @Override
        public Iterator<String> iterator() {
            return new Cells(this);
        }
    }

    static class Cells implements Iterator<String> {
        final Row row;
        int next;

        Cells(Row row) {
            this.row = row;
        }

        @Override
        public boolean hasNext() {
            return next < row.cells();
        }

        @Override
        public String next() {
            return row.cell(next++);
        }
    }

    static final Row[] rows = { new Letters(), new Digits(), new Signs() };

    static long countCells(boolean isFixed) {
        long n = 0;
        for (int i = 0; i < ITEMS; i++) {
            Row row = rows[i % 3];
            if (isFixed) {
                for (int cell = 0; cell < row.cells(); cell++)
                    n += row.cell(cell).length();
            } else {
                for (String cell : row)
                    n += cell.length();
            }
        }
        return n;
    }

    // ---- a builder for each text ----

    interface Part {
        void append(StringBuilder to, int i);
    }

    static final Part[] parts = {
        (to, i) -> to.append("item ").append(i),
        (to, i) -> to.append('#').append(i).append(';'),
        (to, i) -> to.append(i).append(" pieces of it"),
    };
    static final StringBuilder reused = new StringBuilder();

    static long measureTexts(boolean isFixed) {
        long n = 0;
        for (int i = 0; i < ITEMS; i++) {
            StringBuilder text = reused;
            if (isFixed)
                text.setLength(0);
            else
                text = new StringBuilder();
            parts[i % 3].append(text, i);
            n += text.length() + text.charAt(i % 3);
        }
        return n;
    }

    // ---- all ----

    static long run(String what, boolean isFixed) {
        switch (what) {
        case "boxed":
            return sumPrices(isFixed);
        case "iterator":
            return countCells(isFixed);
        default:
            return measureTexts(isFixed);
        }
    }

    public static void main(String[] args) {
        boolean isFixed = args.length > 1 && args[1].equals("fixed");
        int rounds = args.length > 2 ? Integer.parseInt(args[2]) : 100;
        long sum = 0;
        for (int i = 0; i < rounds; i++)
            sum += run(args[0], isFixed);
        System.out.println(sum);
    }
}
