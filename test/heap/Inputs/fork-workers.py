"""Pools of forked workers as Python programs use them: inherited and sent data.

Prints "right" or fails. Needs nothing but the standard library.
"""

import array
import gc
import multiprocessing
import os
import sys
import threading

MIB = 1 << 20
inherited = [array.array("Q", range(i, i + MIB // 8)) for i in range(24)]


def use(number: int) -> int:
    block = inherited[number % len(inherited)]
    block[0] += 1  # the worker's own from here on
    mine = array.array("Q", block)
    text = [str(word) for word in mine[:20000]]
    gc.collect()
    return sum(mine) - mine[0] + len(text)


def expected(number: int) -> int:
    first = number % len(inherited)
    return sum(range(first + 1, first + MIB // 8)) + 20000


def main() -> None:
    context = multiprocessing.get_context("fork")
    stop = threading.Event()
    if "threads" in sys.argv:
        threading.Thread(target=stop.wait, daemon=True).start()
    for _ in range(3):
        with context.Pool(3, maxtasksperchild=4) as pool:
            numbers = list(range(36))
            assert pool.map(use, numbers, 1) == [expected(n) for n in numbers]
    for number, block in enumerate(inherited):
        assert block[0] == number, "a worker has written to the parent's block"
        block[0] = number
    for _ in range(30):  # daemons, shells and the like
        child = os.fork()
        if child == 0:
            inherited.clear()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    stop.set()
    print("right")


if __name__ == "__main__":
    main()
