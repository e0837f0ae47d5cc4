package target;

import java.util.function.DoubleUnaryOperator;

/** What target.Inlined makes of it: a file of 17 lines, whose line 12 calls an inline function, lines 19 to 24. */
final class InlinedCode implements DoubleUnaryOperator {
    @Override
    public double applyAsDouble(double n) {
        double sum = 1;
        /* ...
         * the inline function is called
         */
        for (int k = 0; k < 3; k++) {
            sum += k;
        }


        // its code
        for (int i = 0; i < n; i++) {
            sum += Math.sqrt(i + sum);
            sum = sum / 2 + Math.cbrt(sum);
            sum *= 0.9;
        }
        return sum;
    }
}
