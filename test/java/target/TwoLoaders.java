package target;

import java.io.InputStream;
import java.util.function.DoubleUnaryOperator;

/** Two classes of one name, of two loaders, of which one has three times the work.  Argument: seconds. */
final class TwoLoaders extends ClassLoader {
    public static void main(String[] args) throws Exception {
        DoubleUnaryOperator few = made(), many = made();
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        double sum = 0;
        for (boolean isFirst = true; System.nanoTime() < end; isFirst = false) {
            sum += few.applyAsDouble(100_000) + many.applyAsDouble(300_000);
            if (isFirst) {
                System.out.println("READY");
            }
        }
        System.out.println(sum > 0);
    }

    private static DoubleUnaryOperator made() throws Exception {
        byte[] code;
        try (InputStream in = TwoLoaders.class.getResourceAsStream("InlinedCode.class")) {
            code = in.readAllBytes();
        }
        var constructor = new TwoLoaders().defineClass("target.InlinedCode", code, 0, code.length).getDeclaredConstructor();
        constructor.setAccessible(true);
        return (DoubleUnaryOperator) constructor.newInstance();
    }
}
