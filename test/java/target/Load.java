package target;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Many threads that start and end all the time, or many classes:  threads ALIVE ALTOGETHER,  classes NUMBER MORE (it
 * loads NUMBER, says LOADED, and loads MORE while it works).  It begins to count when it reads a line, and ends by
 * saying what it computed, and how often the method was called that it says.
 */
public final class Load {
    private static final AtomicLong sum = new AtomicLong();

    public static void main(String[] args) throws Exception {
        int first = Integer.parseInt(args[1]), second = Integer.parseInt(args[2]);
        if (args[0].equals("threads"))
            threads(first, second);
        else
            classes(first, second);
    }

    /** For who waits until the program is recorded. */
    private static void rest() throws InterruptedException {
        for (int i = 0; i < 5; i++)
            Thread.sleep(1);
    }

    private static void await() throws Exception {
        System.out.println("READY");
        while (System.in.available() == 0)
            rest();
    }

    static long work(int seed) {
        long result = seed;
        for (int i = 0; i < 500; i++)
            result = result * 31 + (i ^ seed);
        return result;
    }

    private static void threads(int alive, int altogether) throws Exception {
        Thread[] threads = new Thread[alive];
        await();
        for (int i = 0; i < altogether; i++) {
            int at = i % alive, seed = i;
            if (threads[at] != null)
                threads[at].join();
            threads[at] = new Thread(() -> sum.addAndGet(work(seed)));
            threads[at].start();
        }
        for (Thread thread : threads)
            if (thread != null)
                thread.join();
        System.out.println("SUM " + sum + " of " + altogether + " calls");
    }

    // ---- classes ----

    private static final class Loader extends ClassLoader {
        Class<?> define(String name) throws IOException {
            byte[] bytes = bytes(name);
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    /** public class NAME implements IntUnaryOperator { applyAsInt(int n) counts down to 0 and returns n * 2 } */
    private static byte[] bytes(String name) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        String[] words = { name, "java/lang/Object", "java/util/function/IntUnaryOperator", "<init>", "()V", "applyAsInt",
            "(I)I", "Code" };
        out.writeInt(0xcafebabe);
        out.writeInt(49); // Java 5: no stack maps
        out.writeShort(words.length + 6);
        for (String word : words) {
            out.writeByte(1);
            out.writeUTF(word);
        }
        for (int i = 1; i <= 3; i++) { // 9, 10, 11: the classes
            out.writeByte(7);
            out.writeShort(i);
        }
        out.writeByte(12); // 12: <init>()V
        out.writeShort(4);
        out.writeShort(5);
        out.writeByte(10); // 13: Object.<init>
        out.writeShort(10);
        out.writeShort(12);
        out.writeShort(0x21);
        out.writeShort(9);
        out.writeShort(10);
        out.writeShort(1);
        out.writeShort(11);
        out.writeShort(0);
        out.writeShort(2);
        method(out, 4, 5, new int[] { 0x2a, 0xb7, 0, 13, 0xb1 }); // aload_0; invokespecial Object.<init>; return
        // iload_1; istore_2; 2: iload_2; ifle 12; iinc 2 -1; goto 2; 12: iload_1; iconst_2; imul; ireturn
        method(out, 6, 7, new int[] { 0x1b, 0x3d, 0x1c, 0x9e, 0, 9, 0x84, 2, 255, 0xa7, 255, 249, 0x1b, 0x05, 0x68, 0xac });
        out.writeShort(0);
        return bytes.toByteArray();
    }

    private static void method(DataOutputStream out, int name, int descriptor, int[] code) throws IOException {
        out.writeShort(1);
        out.writeShort(name);
        out.writeShort(descriptor);
        out.writeShort(1);
        out.writeShort(8);
        out.writeInt(12 + code.length);
        out.writeShort(2);
        out.writeShort(3);
        out.writeInt(code.length);
        for (int b : code)
            out.writeByte(b);
        out.writeInt(0);
    }

    private static void classes(int number, int more) throws Exception {
        Loader loader = new Loader();
        java.util.function.IntUnaryOperator[] made = new java.util.function.IntUnaryOperator[number + more];
        for (int i = 0; i < number; i++)
            made[i] = make(loader, i);
        await();
        for (int i = number; i < number + more; i++)
            made[i] = make(loader, i);
        long calls = 0, result = 0;
        for (int round = 0; round < 3; round++)
            for (java.util.function.IntUnaryOperator one : made) {
                result = result * 31 + one.applyAsInt((int) (calls % 7));
                calls++;
            }
        System.out.println("SUM " + result + " of " + calls + " calls");
    }

    private static java.util.function.IntUnaryOperator make(Loader loader, int i) throws Exception {
        return (java.util.function.IntUnaryOperator) loader.define("Made" + i).getDeclaredConstructor().newInstance();
    }
}
