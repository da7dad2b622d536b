# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For python3: threads with stacks of several sizes, subprocesses, processes
# that are forked and spawned, deep recursion, signals, large objects.
import ctypes
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading


def work(number):
    return sum(i * i for i in range(number * 1000))


def recurse(depth):
    return 0 if depth == 0 else 1 + recurse(depth - 1)


def run_threads(stack_bytes):
    threading.stack_size(stack_bytes)
    results = {}

    def body(number):
        results[number] = work(number) + recurse(500)

    threads = [threading.Thread(target=body, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(results.values())


def main():
    for stack_bytes in (0, 256 << 10, 3 << 20, 32 << 20):
        print("threads", run_threads(stack_bytes))
    sys.setrecursionlimit(20000)
    print("depth", recurse(15000))
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(3) as pool:
            print(method, sum(pool.map(work, range(20))))
    done = subprocess.run("echo $((6 * 7)); exit 5", shell=True, capture_output=True)
    print(done.returncode, done.stdout)
    print(os.popen("echo popen").read().strip(), os.system("exit 3") >> 8)
    child = os.fork()
    if child == 0:
        os._exit(work(3) % 50)
    print("forked", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    seen = []
    signal.signal(signal.SIGALRM, lambda *_: seen.append("alarm"))
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    signal.pause()
    print(seen)
    data = [bytearray(1 << 20) for _ in range(64)]
    data[5][7] = 9
    gc.collect()
    print(sum(len(block) for block in data), data[5][7])
    numbers = (ctypes.c_int * 1000)(*range(1000))
    compare = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int)
    )(lambda a, b: b[0] - a[0])
    ctypes.CDLL(None).qsort(numbers, 1000, 4, compare)
    print(numbers[0], numbers[999])


if __name__ == "__main__":
    main()
