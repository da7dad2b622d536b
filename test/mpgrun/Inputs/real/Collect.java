// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Java program: threads that make garbage, stack overflows that the virtual
// machine turns into exceptions (by guard pages in stacks that libmpg has
// enlarged), null pointers (by signals), a child.
import java.util.ArrayList;
import java.util.List;

public class Collect {
  static void recurse(int[] deepest) {
    deepest[0]++;
    recurse(deepest);
  }

  static boolean overflows() {
    int[] deepest = new int[1];
    try {
      recurse(deepest);
      return false;
    } catch (StackOverflowError e) {
      return deepest[0] > 1000;
    }
  }

  static long makeGarbage(int seed) {
    long sum = 0;
    List<byte[]> kept = new ArrayList<>();
    for (int i = 0; i < 2000; i++) {
      byte[] block = new byte[10000];
      block[seed % 100] = (byte) i;
      if (i % 100 == 0)
        kept.add(block);
      sum += block.length;
    }
    return sum + kept.size();
  }

  public static void main(String[] arguments) throws Exception {
    long[] sums = new long[16];
    boolean[] overflowed = new boolean[16];
    Thread[] threads = new Thread[16];
    for (int i = 0; i < threads.length; i++) {
      int number = i;
      threads[i] = new Thread(null, () -> {
        sums[number] = makeGarbage(number);
        overflowed[number] = overflows() && overflows();
      }, "worker", (long) (i % 4) << 20);
      threads[i].start();
    }
    for (Thread thread : threads)
      thread.join();
    System.gc();
    long total = 0;
    boolean all = overflows();
    for (int i = 0; i < threads.length; i++) {
      total += sums[i];
      all &= overflowed[i];
    }
    System.out.println(total + " " + all);
    try {
      Object nothing = arguments.length > 5 ? "" : null;
      System.out.println(nothing.hashCode());
    } catch (NullPointerException e) {
      System.out.println("null pointer");
    }
    Process child = new ProcessBuilder("sh", "-c", "exit 4").start();
    System.out.println("child " + child.waitFor());
    System.exit(6);
  }
}
