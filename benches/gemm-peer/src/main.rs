//! Benchmarks rten-gemm on exact products of 8-bit matrices with the sizes of a network's layers; prints rows of a
//! CSV table.
//!
//!     gemm-peer SUBJECT M,K,N...
//!
//! A layer of M output pixels, K products and N channels is a matrix of M x K bytes times a packed matrix of K x N
//! weights. Windows are not gathered and nothing is requantized, so no convolution by this library is faster. One
//! thread.
//! Columns: tool, subject, setting, threads, figure, unit.

use std::time::{Duration, Instant};

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions};
use rten_tensor::NdTensorView;

/// Minimum duration of every measurement.
const LEAST: Duration = Duration::from_millis(100);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let subject = arguments.next().expect("usage: gemm-peer SUBJECT M,K,N...");
    let executor = GemmExecutor::<u8, i8, i32>::new();
    let mut total = 0.0;
    for layer in arguments {
        let sizes: Vec<usize> = layer.split(',').map(|size| size.parse().expect("a size")).collect();
        let [m, k, n] = sizes[..] else { panic!("a layer is M,K,N") };
        let bytes: Vec<u8> = (0..m * k).map(|i| (i * 37 % 251) as u8).collect();
        let weights: Vec<i8> = (0..k * n).map(|i| (i * 53 % 255) as u8 as i8).collect();
        let a = NdTensorView::from_data([m, k], bytes.as_slice());
        let packed = executor.prepack_b(NdTensorView::from_data([k, n], weights.as_slice()));
        let mut out = vec![0; m * n];
        let mut run = || {
            let (a, b) = (GemmInputA::Unpacked(a), GemmInputB::Packed(&packed));
            executor.gemm(&mut out, a, b, GemmOptions::default()).expect("matrices of these sizes");
        };
        run();
        let (start, mut times) = (Instant::now(), 0);
        while times == 0 || start.elapsed() < LEAST {
            run();
            times += 1;
        }
        total += start.elapsed().as_secs_f64() / f64::from(times);
    }
    println!("rten-gemm,{subject},exact sums of every layer,1,{:.4},ms/inference", total * 1e3);
}
