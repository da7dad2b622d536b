// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Go program that uses C's malloc from goroutines, which Go moves between its
// threads: what one thread takes, another frees.
package main

/*
#include <stdlib.h>
#include <string.h>

static char *make(int size, int value) {
	char *block = malloc(size);
	memset(block, value, size);
	return block;
}
static char *grow(char *block, int size) { return realloc(block, size); }
static int holds(const char *block, int size, int value) {
	for (int i = 0; i < size; i++)
		if (block[i] != value)
			return 0;
	return 1;
}
*/
import "C"

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

type block struct {
	start       *C.char
	size, value C.int
}

func main() {
	runtime.GOMAXPROCS(4)
	blocks := make(chan block, 100)
	var makers, users sync.WaitGroup
	right := make([]int, 4)
	for m := 0; m < 8; m++ {
		makers.Add(1)
		go func(m int) {
			defer makers.Done()
			for i := 0; i < 1500; i++ {
				size, value := C.int(1+(i*i*31+m)%20000), C.int(i%100)
				if i%100 == 0 {
					size += 1000000
				}
				blocks <- block{C.make(size, value), size, value}
				runtime.Gosched()
			}
		}(m)
	}
	for u := range right {
		users.Add(1)
		go func(u int) {
			defer users.Done()
			for b := range blocks {
				b.start = C.grow(b.start, b.size*2)
				right[u] += int(C.holds(b.start, b.size, b.value))
				C.free(unsafe.Pointer(b.start))
			}
		}(u)
	}
	makers.Wait()
	close(blocks)
	users.Wait()
	text := C.CString("through C")
	fmt.Println(right[0]+right[1]+right[2]+right[3], C.GoString(text))
	C.free(unsafe.Pointer(text))
}
