// SPDX-License-Identifier: MIT
// Four threads hash, make garbage, and check that the result stays the same (attach_campaign.py). Prints
// "ready", runs until the standard input is closed, and prints "ok".
import java.security.MessageDigest;
import java.util.Arrays;

public class AttachHashes {
    private static volatile boolean over, wrong;

    private static void run(byte seed) {
        byte[] first = null;
        try {
            while (!over) {
                byte[] value = {seed};
                for (int i = 0; i < 2000; i++) {
                    value = MessageDigest.getInstance("SHA-256").digest(value);
                    byte[] garbage = new byte[4000];
                    garbage[i] = value[0];
                }
                if (first == null)
                    first = value;
                if (!Arrays.equals(value, first))
                    wrong = true;
            }
        } catch (Exception e) {
            wrong = true;
        }
    }

    public static void main(String[] words) throws Exception {
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            final byte seed = (byte) i;
            threads[i] = new Thread(() -> run(seed));
            threads[i].start();
        }
        System.out.println("ready");
        while (System.in.read() >= 0)
            ;
        over = true;
        for (Thread t : threads)
            t.join();
        System.out.println(wrong ? "wrong" : "ok");
    }
}
