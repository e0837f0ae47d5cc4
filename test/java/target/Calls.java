package target;

/**
 * Calls of which it is known what C2 does with them: it inlines methods of up to 325 bytes of bytecode where they are
 * hot (FreqInlineSize).  One is always smaller, one larger, and one is larger only when it has a probe.
 */
final class Calls {
    private Calls() {}

    private static int few(int x) {
        return x * 31 + 7;
    }

    private static int nearly(int x) {
        x += (x >>> 1) ^ 1000;
        x += (x >>> 2) ^ 1001;
        x += (x >>> 3) ^ 1002;
        x += (x >>> 4) ^ 1003;
        x += (x >>> 5) ^ 1004;
        x += (x >>> 6) ^ 1005;
        x += (x >>> 7) ^ 1006;
        x += (x >>> 1) ^ 1007;
        x += (x >>> 2) ^ 1008;
        x += (x >>> 3) ^ 1009;
        x += (x >>> 4) ^ 1010;
        x += (x >>> 5) ^ 1011;
        x += (x >>> 6) ^ 1012;
        x += (x >>> 7) ^ 1013;
        x += (x >>> 1) ^ 1014;
        x += (x >>> 2) ^ 1015;
        x += (x >>> 3) ^ 1016;
        x += (x >>> 4) ^ 1017;
        x += (x >>> 5) ^ 1018;
        x += (x >>> 6) ^ 1019;
        x += (x >>> 7) ^ 1020;
        x += (x >>> 1) ^ 1021;
        x += (x >>> 2) ^ 1022;
        x += (x >>> 3) ^ 1023;
        x += (x >>> 4) ^ 1024;
        x += (x >>> 5) ^ 1025;
        x += (x >>> 6) ^ 1026;
        x += (x >>> 7) ^ 1027;
        x += (x >>> 1) ^ 1028;
        x += (x >>> 2) ^ 1029;
        x += (x >>> 3) ^ 1030;
        return x;
    }

    private static int many(int x) {
        x += (x >>> 1) ^ 1000;
        x += (x >>> 2) ^ 1001;
        x += (x >>> 3) ^ 1002;
        x += (x >>> 4) ^ 1003;
        x += (x >>> 5) ^ 1004;
        x += (x >>> 6) ^ 1005;
        x += (x >>> 7) ^ 1006;
        x += (x >>> 1) ^ 1007;
        x += (x >>> 2) ^ 1008;
        x += (x >>> 3) ^ 1009;
        x += (x >>> 4) ^ 1010;
        x += (x >>> 5) ^ 1011;
        x += (x >>> 6) ^ 1012;
        x += (x >>> 7) ^ 1013;
        x += (x >>> 1) ^ 1014;
        x += (x >>> 2) ^ 1015;
        x += (x >>> 3) ^ 1016;
        x += (x >>> 4) ^ 1017;
        x += (x >>> 5) ^ 1018;
        x += (x >>> 6) ^ 1019;
        x += (x >>> 7) ^ 1020;
        x += (x >>> 1) ^ 1021;
        x += (x >>> 2) ^ 1022;
        x += (x >>> 3) ^ 1023;
        x += (x >>> 4) ^ 1024;
        x += (x >>> 5) ^ 1025;
        x += (x >>> 6) ^ 1026;
        x += (x >>> 7) ^ 1027;
        x += (x >>> 1) ^ 1028;
        x += (x >>> 2) ^ 1029;
        x += (x >>> 3) ^ 1030;
        x += (x >>> 4) ^ 1031;
        x += (x >>> 5) ^ 1032;
        x += (x >>> 6) ^ 1033;
        x += (x >>> 7) ^ 1034;
        x += (x >>> 1) ^ 1035;
        x += (x >>> 2) ^ 1036;
        x += (x >>> 3) ^ 1037;
        x += (x >>> 4) ^ 1038;
        x += (x >>> 5) ^ 1039;
        return x;
    }

    private static int run(int rounds, int x) {
        for (int i = 0; i < rounds; i++) {
            x = few(x);
            x = nearly(x);
            x = many(x);
        }
        return x;
    }

    public static void main(String[] args) {
        int x = 0;
        for (int i = 0; i < Integer.parseInt(args[0]); i++)
            x = run(1000, x);
        System.err.println("sum " + x);
    }
}
