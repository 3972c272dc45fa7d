use std::time::Duration;

fn main() -> berth::Result<()> {
    let runtime = berth::Runtime::new()?;
    let session = runtime.session("fix-42").shell("read order; echo agent: $order").create()?;
    session.send("run the tests")?;
    let end = session.wait(Some(Duration::from_secs(600)))?;
    println!("{}{end}", session.capture(10)?);
    session.destroy(Duration::from_secs(5))
}
