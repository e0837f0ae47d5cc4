package target;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.function.DoubleUnaryOperator;

/**
 * Runs target.InlinedCode as kotlinc would have written it: of a file .kt, with a SourceDebugExtension that says which
 * lines are of an inline function, and who calls it.  Argument: seconds.
 */
final class Inlined extends ClassLoader {
    private static final String SMAP = "SMAP\nInlinedCode.kt\nKotlin\n*S Kotlin\n*F\n+ 1 InlinedCode.kt\ntarget/InlinedCode\n"
            + "+ 2 Util.kt\ntarget/UtilKt\n*L\n1#1,17:1\n40#2,6:19\n*S KotlinDebug\n*F\n+ 1 InlinedCode.kt\n"
            + "target/InlinedCode\n*L\n12#1:19,6\n*E\n";
    private static final int[] CONSTANT_BYTES = {0, 0, 0, 4, 4, 8, 8, 2, 2, 4, 4, 4, 4, 0, 0, 3, 2, 4, 4, 2, 2};

    public static void main(String[] args) throws Exception {
        byte[] code;
        try (InputStream in = Inlined.class.getResourceAsStream("InlinedCode.class")) {
            code = asKotlin(in.readAllBytes());
        }
        var made = new Inlined().defineClass("target.InlinedCode", code, 0, code.length).getDeclaredConstructor();
        made.setAccessible(true);
        DoubleUnaryOperator work = (DoubleUnaryOperator) made.newInstance();
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        double sum = 0;
        System.out.println("READY");
        while (System.nanoTime() < end) {
            sum += work.applyAsDouble(1_000_000);
        }
        System.out.println(sum > 0);
    }

    /** Another source file, and one attribute more. */
    private static byte[] asKotlin(byte[] code) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(code);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        int constants = in.getShort(8);
        out.write(code, 0, 8);
        out.writeShort(constants + 1);
        in.position(10);
        for (int i = 1; i < constants; i++) {
            int start = in.position(), tag = in.get();
            if (tag == 1) {
                byte[] text = new byte[in.getShort()];
                in.get(text);
                out.writeByte(1);
                out.writeUTF(new String(text, StandardCharsets.UTF_8).replace("InlinedCode.java", "InlinedCode.kt"));
            } else {
                in.position(start + 1 + CONSTANT_BYTES[tag]);
                out.write(code, start, in.position() - start);
                i += tag == 5 || tag == 6 ? 1 : 0;
            }
        }
        out.writeByte(1);
        out.writeUTF("SourceDebugExtension");
        int rest = in.position();
        in.position(rest + 6);
        in.position(in.position() + 2 + 2 * in.getShort(in.position()));
        skipMembers(in);
        skipMembers(in);
        out.write(code, rest, in.position() - rest);
        out.writeShort(in.getShort() + 1);
        out.write(code, in.position(), in.remaining());
        out.writeShort(constants);
        out.writeInt(SMAP.length());
        out.writeBytes(SMAP);
        return bytes.toByteArray();
    }

    private static void skipMembers(ByteBuffer in) {
        for (int n = in.getShort(); n > 0; n--) {
            in.position(in.position() + 6);
            for (int k = in.getShort(); k > 0; k--) {
                in.position(in.position() + 2);
                int length = in.getInt();
                in.position(in.position() + length);
            }
        }
    }
}
