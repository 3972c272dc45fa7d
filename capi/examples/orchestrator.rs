//! A mini orchestrator: three agents side by side, each in a sandbox of its own; send, stream, kill, sweep.
//!
//!     orchestrator STATE_DIR WORKSPACE
use std::io::Read;
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args_os().skip(1);
    let (state, workspace) = (args.next().ok_or("which state directory?")?, args.next().ok_or("which workspace?")?);
    let runtime = berth::Runtime::with_state_dir(&state)?;
    let policy = berth::Policy::agent(&workspace).limit(berth::Limit::Memory, 1 << 30).limit(berth::Limit::Pids, 64).build()?;

    // An agent is any program that talks on its terminal; here a line reader stands for one.
    let program = "while read -r task; do echo \"$0 did $task\"; done";
    let mut agents = Vec::new();
    for name in ["ada", "grace", "linus"] {
        let agent = runtime.session(name).argv(["/bin/sh", "-c", program, name]).cwd(&workspace).policy(&policy).create()?;
        println!("{name}: {} in tier {}", agent.handle(), agent.info()?.tier);
        agents.push((name, agent));
    }

    // One thread for each stream; an event loop would poll the descriptors instead.
    std::thread::scope(|scope| -> berth::Result<()> {
        for (name, agent) in &agents {
            let mut output = agent.stdout()?;
            scope.spawn(move || {
                let (mut all, mut buffer) = (String::new(), [0; 4096]);
                while !all.contains(&format!("{name} did the tests")) {
                    match output.read(&mut buffer) {
                        Ok(n) if n > 0 => all.push_str(&String::from_utf8_lossy(&buffer[..n])),
                        _ => return,
                    }
                }
                println!("{name}: said so");
            });
            agent.send("the tests")?;
        }
        Ok(())
    })?;

    // One is stopped, the others are destroyed; then nothing may be left to sweep.
    println!("{}: {}", agents[0].0, agents[0].1.stop(Duration::from_secs(1))?);
    for (_, agent) in &agents {
        agent.destroy(Duration::from_secs(1))?;
    }
    let report = berth::Sweep::new().run(&state)?;
    println!("swept: {} done, {} failed", report.done, report.failed);
    assert_eq!(runtime.list()?.len(), 0);
    Ok(())
}
