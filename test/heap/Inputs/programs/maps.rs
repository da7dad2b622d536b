// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Rust program: maps, strings and vectors that threads make, hand over and
// drop, with the alignments that Rust asks for, and growth by realloc.
use std::alloc::{alloc, alloc_zeroed, dealloc, realloc, Layout};
use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc;
use std::thread;

fn aligned(power: usize) -> usize {
    let mut wrong = 0;
    for bytes in [1usize, 100, 5000, 70000, 3000000] {
        let layout = Layout::from_size_align(bytes, 1 << power).unwrap();
        let larger = Layout::from_size_align(bytes * 3, 1 << power).unwrap();
        unsafe {
            let zero = alloc_zeroed(layout);
            let first = alloc(layout);
            wrong += (zero as usize | first as usize) & ((1 << power) - 1);
            wrong += (0..bytes).map(|i| *zero.add(i) as usize).sum::<usize>();
            first.write_bytes(7, bytes);
            let moved = realloc(first, layout, bytes * 3);
            wrong += moved as usize & ((1 << power) - 1);
            wrong += (0..bytes).filter(|&i| *moved.add(i) != 7).count();
            dealloc(moved, larger);
            dealloc(zero, layout);
        }
    }
    wrong
}

fn main() {
    let (send, receive) = mpsc::channel::<(usize, HashMap<String, Vec<usize>>)>();
    let threads: Vec<_> = (0..8)
        .map(|n| {
            let send = send.clone();
            thread::spawn(move || {
                for round in 0..10 {
                    let mut map = HashMap::new();
                    for i in 0..2000 {
                        map.entry(format!("{} {}", n, i * i % 1009))
                            .or_insert_with(Vec::new)
                            .push(i + round);
                    }
                    send.send((n, map)).unwrap();
                }
            })
        })
        .collect();
    drop(send);
    let mut all = BTreeMap::new();
    for (n, map) in receive {
        for (key, values) in map {
            *all.entry((n, key)).or_insert(0) += values.iter().sum::<usize>();
        }
    }
    for t in threads {
        t.join().unwrap();
    }
    let text: String = all.keys().map(|(n, key)| format!("{}{}", n, key)).collect();
    println!("{} {} {}", all.len(), all.values().sum::<usize>(), text.len());
    println!("wrong {}", (0..23).map(aligned).sum::<usize>());
}
