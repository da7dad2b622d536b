// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Rust program: threads with small and large stacks, panics that unwind out
// of threads and are caught, deep recursion on main's stack, a child.
#![allow(unknown_lints, static_mut_refs)]
use std::panic;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

static mut TABLE: [u64; 1 << 20] = [7; 1 << 20];

#[inline(never)]
fn deep(n: u64, pad: [u64; 32]) -> u64 {
    if n == 0 {
        return pad[5];
    }
    let mut next = pad;
    next[5] = pad[5] + n;
    deep(n - 1, next).wrapping_mul(next[7] + 1)
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let sum = Arc::new(Mutex::new(0u64));
    let threads: Vec<_> = (0..24u64)
        .map(|i| {
            let sum = Arc::clone(&sum);
            thread::Builder::new()
                .stack_size(if i % 3 == 0 { 64 << 10 } else { (i as usize) << 20 })
                .spawn(move || {
                    if i % 4 == 1 {
                        panic!("thread {}", i);
                    }
                    *sum.lock().unwrap() += deep(if i % 3 == 0 { 20 } else { 2000 }, [0; 32]);
                    i
                })
                .unwrap()
        })
        .collect();
    let ended: Vec<String> = threads
        .into_iter()
        .map(|t| match t.join() {
            Ok(i) => i.to_string(),
            Err(e) => e.downcast_ref::<String>().unwrap().clone(),
        })
        .collect();
    println!("{:?} {}", ended, sum.lock().unwrap());
    println!("main {}", deep(8000, [1; 32]));
    let caught = panic::catch_unwind(|| deep(10, [0; 32]) / std::env::args().count().wrapping_sub(1) as u64);
    println!("caught {}", caught.is_err());
    let total: u64 = unsafe {
        TABLE[99] = 8;
        (0..1usize << 20).map(|i| TABLE[i]).sum()
    };
    println!("table {}", total);
    let out = Command::new("sh").args(["-c", "echo child; exit 4"]).output().unwrap();
    println!("{:?} {:?}", String::from_utf8_lossy(&out.stdout), out.status.code());
    std::process::exit(6);
}
