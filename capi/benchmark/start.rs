//! How long a start takes, from a Rust program with a heap of 1 GiB, all of it touched: start COUNT STATE_DIR prints the
//! median in nanoseconds.
use berth::Stdio;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let count: usize = args[1].parse()?;
    let heap = vec![1u8; 1 << 30];
    let runtime = berth::Runtime::with_state_dir(&args[2])?;
    let mut times = Vec::new();
    for _ in 0..20 + count {
        let command = runtime.command("/bin/true").stdout(Stdio::Null).stderr(Stdio::Null);
        let begin = Instant::now();
        let process = command.spawn()?;
        times.push(begin.elapsed());
        process.wait(None)?;
    }
    let mut times = times.split_off(20); // the first ones warm up
    times.sort();
    println!("{}", times[count / 2].as_nanos());
    assert_eq!(std::hint::black_box(&heap)[heap.len() - 1], 1);
    Ok(())
}
