// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Java program that needs memory from malloc, not from the virtual machine's
// own heap: buffers outside of that heap, threads that compress (zlib), many
// classes that are compiled while it runs, and threads that come and go.
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

public class Blocks {
  static byte[] text(int seed) {
    byte[] text = new byte[50000];
    for (int i = 0; i < text.length; i++) {
      seed = seed * 1103515245 + 12345;
      text[i] = (byte) ("abcdefgh".charAt(seed >>> 29));
    }
    return text;
  }

  static long there(int seed) throws Exception {
    byte[] text = text(seed), packed = new byte[100000], again = new byte[text.length];
    Deflater deflater = new Deflater();
    deflater.setInput(text);
    deflater.finish();
    int length = deflater.deflate(packed);
    deflater.end();
    Inflater inflater = new Inflater();
    inflater.setInput(packed, 0, length);
    int back = inflater.inflate(again);
    inflater.end();
    CRC32 crc = new CRC32();
    crc.update(again, 0, back);
    return length * 1000003L + crc.getValue();
  }

  static long outside(int seed) {
    List<ByteBuffer> buffers = new ArrayList<>();
    long sum = 0;
    for (int i = 0; i < 100; i++) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(1000 + (seed + i) * 977 % 300000);
      for (int k = 0; k < buffer.capacity(); k += 512)
        sum += buffer.get(k);
      buffer.putInt(0, i);
      buffers.add(buffer);
    }
    for (ByteBuffer buffer : buffers)
      sum += buffer.getInt(0);
    return sum;
  }

  public static void main(String[] arguments) throws Exception {
    long total = 0;
    for (int round = 0; round < 4; round++) {
      Thread[] threads = new Thread[12];
      long[] sums = new long[threads.length];
      for (int i = 0; i < threads.length; i++) {
        int number = i;
        threads[i] = new Thread(() -> {
          try {
            sums[number] = there(number) + outside(number);
          } catch (Exception e) {
            e.printStackTrace();
          }
        });
        threads[i].start();
      }
      for (Thread thread : threads)
        thread.join();
      for (long sum : sums)
        total += sum;
      System.gc();
    }
    System.out.println("sum " + total);
    System.exit(total == 0 ? 1 : 6);
  }
}
