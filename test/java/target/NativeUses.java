package target;

/** Objects that the JVM uses last, for their hash codes, and as many that Java code uses last. */
public final class NativeUses {
    static final int OBJECTS = 500;

    static final class Hashed {
        int x;
    }

    static final class Read {
        int x;
    }

    public static void main(String[] args) {
        int sum = 0;
        for (int i = 0; i < OBJECTS; i++) {
            Hashed hashed = new Hashed();
            hashed.x = i;
            sum += System.identityHashCode(hashed) == 0 ? 1 : 0;
            Read read = new Read();
            sum += System.identityHashCode(read) == 0 ? 1 : 0;
            read.x = i;
            sum += read.x;
        }
        System.out.println(sum);
    }
}
