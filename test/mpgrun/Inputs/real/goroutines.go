// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Go program: goroutines, garbage, stacks that grow, a panic that is caught,
// a signal, a child. Go makes its own stacks and threads, beside libmpg.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
)

var table [4 << 20]uint64
var filled = [4]string{"a", "b", "c", "d"}

func deep(n int, pad [64]byte) int {
	if n == 0 {
		return int(pad[3])
	}
	pad[3] = byte(n)
	return deep(n-1, pad) + 1
}

func caught(n int) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	var none []int
	return fmt.Sprint(none[n])
}

func main() {
	runtime.GOMAXPROCS(4)
	var group sync.WaitGroup
	sums := make([]int, 200)
	for i := range sums {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			sums[i] = deep(1000+i*20, [64]byte{})
			kept := make([][]byte, 0)
			for j := 0; j < 50; j++ {
				kept = append(kept, make([]byte, 10000))
			}
			sums[i] += len(kept)
		}(i)
	}
	group.Wait()
	runtime.GC()
	debug.FreeOSMemory()
	total := 0
	for _, sum := range sums {
		total += sum
	}
	for i := range table {
		table[i] = uint64(i)
	}
	fmt.Println(total, table[1<<20], filled[2], caught(5))
	fmt.Println(deep(1000000, [64]byte{}))
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	fmt.Println(<-signals)
	out, err := exec.Command("sh", "-c", "echo child; exit 4").Output()
	fmt.Printf("%s%v\n", out, err)
	os.Exit(6)
}
