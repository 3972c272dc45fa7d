//! What there is besides sessions, from Rust: policies, agents, ports, environments, single processes.
mod place;
use berth::{Access, AgentEnd, AgentEventKind, Code, Layer, Limit, Policy, Runtime};
use place::{Place, INIT, RESULT, SOON};
use std::io::Read;
use std::time::Duration;

#[test]
fn a_policy_is_what_was_said_and_dangers_are_named() {
    let policy = Policy::agent("/srv/project").allow_domains(["github.com"]).limit(Limit::Memory, 1 << 30).build().unwrap();
    assert_eq!(policy.network(), berth::Network::AllowList);
    assert_eq!(policy, Policy::from_text(&policy.to_text().unwrap()).unwrap());
    assert_ne!(policy, policy.to_builder().limit(Limit::Pids, 7).build().unwrap());
    let wrong = Policy::agent("/srv/project").path(Access::ReadWrite, "/a/../b").limit(Limit::Pids, 1).build();
    assert_eq!(wrong.unwrap_err().code(), Code::InvalidArgument);
    let weak = Policy::strict().dangerous_seccomp_off().build().unwrap().to_text().unwrap();
    assert_eq!(Policy::from_text(&weak).unwrap_err().code(), Code::PermissionDenied);
    assert!(Policy::dangerous_from_text(&weak).is_ok());
    let place = Place::new();
    assert!(berth::doctor(place.state()).unwrap().iter().any(|ability| ability.name == "landlock"));
}

#[test]
fn a_process_under_a_policy_is_held_by_it() {
    let place = Place::new();
    let policy = Policy::agent(place.work()).build().unwrap();
    policy.check().unwrap();
    let line = "unshare -U true 2>/dev/null; cat /etc/hostname >inside; ls /proc/1/root >/dev/null 2>&1; echo end";
    let process = place.runtime().shell(line).cwd(place.work()).policy(&policy).spawn().unwrap();
    let mut out = String::new();
    process.take_stdout().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(out, "end\n");
    assert!(process.wait(SOON).unwrap().success());
    let violations = process.violations().unwrap();
    assert_eq!(violations[0].layer, Layer::Syscall);
    assert!(violations[0].what.contains("unshare"), "{}", violations[0]);
}

#[test]
fn changes_are_kept_apart_until_they_are_wanted() {
    let place = Place::new();
    let policy = Policy::agent(place.work()).path(Access::CopyOnWrite, place.work()).build().unwrap();
    let session = place.runtime().session("apart").shell("printf abc >new").cwd(place.work()).policy(&policy);
    let session = session.create().unwrap();
    session.wait(SOON).unwrap();
    assert!(!place.work().join("new").exists());
    let changes = session.changes().unwrap();
    assert_eq!((changes.len(), changes[0].path.as_str(), changes[0].bytes), (1, "new", 3));
    session.keep_changes().unwrap();
    assert_eq!(std::fs::read(place.work().join("new")).unwrap(), b"abc");
}

#[test]
fn an_agent_runs_to_its_end_and_tells_what_it_used() {
    let place = Place::new();
    let program = place.program(&format!("cat >/dev/null\n{INIT}{RESULT}"));
    let policy = Policy::agent(place.work()).path(Access::ReadOnly, &program).build().unwrap();
    let run = place.runtime().agent("claude").prompt("do it").command(&program).state_dir(place.state());
    let run = run.place(place.runtime().session("fix-42").cwd(place.work()).policy(&policy)).start().unwrap();
    let mut other = run.subscribe(1).unwrap();
    let mut kinds = Vec::new();
    while let Some(event) = run.next_event(SOON).unwrap() {
        kinds.push(event.kind());
    }
    assert!(run.is_finished() && kinds.contains(&AgentEventKind::Started) && kinds.contains(&AgentEventKind::Text));
    let result = run.result().unwrap();
    assert_eq!((result.reason, result.text.as_str(), result.usage.cost_usd), (AgentEnd::Success, "ok", 0.25));
    let mut seen = 0;
    while let (Some(_), 0) = other.next_event().unwrap() {
        seen += 1;
    }
    assert_eq!(seen, kinds.len());
    let mut log = berth::AgentLog::open(place.state(), "fix-42").unwrap();
    while log.next_event().unwrap().is_some() {}
    assert_eq!(log.end().unwrap().unwrap().session_id, "s-1");
}

#[test]
fn an_agent_is_stopped() {
    let place = Place::new();
    let program = place.program(&format!("cat >/dev/null\n{INIT}exec sleep 1000\n"));
    let run = place.runtime().agent("claude").prompt("x").command(program).state_dir(place.state()).start().unwrap();
    assert_eq!(run.next_event(SOON).unwrap().unwrap().kind(), AgentEventKind::Started);
    run.stop().unwrap();
    assert_eq!(run.drive(SOON).unwrap().reason, AgentEnd::Stopped);
}

#[test]
fn a_leased_port_is_nobody_elses() {
    let place = Place::new();
    let lease = berth::PortLease::acquire(place.state(), None).unwrap();
    assert!(!berth::is_free(lease.port()) && berth::is_bound(lease.port()));
    let second = berth::PortLease::acquire(place.state(), Some(lease.port())).err().unwrap();
    assert_eq!(second.code(), Code::AlreadyExists);
    let listener = lease.take_listener().unwrap();
    assert_eq!(listener.local_addr().unwrap().port(), lease.port());
    let client = std::net::TcpStream::connect(("127.0.0.1", lease.port())).unwrap();
    listener.accept().unwrap();
    drop((client, listener));
    lease.release_socket().unwrap();
    berth::wait_unbound(lease.port(), SOON).unwrap();
    lease.release().unwrap();
}

#[test]
fn an_environment_holds_several_processes() {
    let place = Place::new();
    let tools = place.runtime().session("tools").backend("native").environment().unwrap();
    assert_eq!(tools.shell("true").spawn().err().unwrap().code(), Code::FailedPrecondition);
    tools.init().unwrap();
    let first = tools.shell("exit 3").name("install").spawn().unwrap();
    let second = tools.shell("exit 4").wait_on("install").spawn().unwrap();
    assert_eq!(first.wait(Some(Duration::ZERO)).unwrap().code(), Some(3));
    assert_eq!(second.wait(SOON).unwrap().code(), Some(4));
    assert_eq!(tools.check_binary("no-such-thing").unwrap_err().code(), Code::NotFound);
    tools.shutdown(Duration::ZERO).unwrap();
    assert_eq!(place.runtime().session("x").backend("native").choose().unwrap().0, "native");
}

#[test]
fn a_process_is_run_to_its_end() {
    let place = Place::new();
    let tools = place.runtime().session("tools").backend("native").environment().unwrap();
    tools.init().unwrap();
    let server = tools.command("sleep").arg("1000").name("server").spawn().unwrap();
    let late = tools.shell("true").wait_on("server").wait_timeout(Duration::from_millis(20)).run(SOON);
    assert_eq!(late.unwrap_err().code(), Code::DeadlineExceeded);
    server.signal(9).unwrap();
    assert_eq!(tools.shell("exit 5").wait_on("server").run(SOON).unwrap().code(), Some(5));
    let long = tools.command("sleep").arg("1000").run(Some(Duration::from_millis(20)));
    assert_eq!(long.unwrap_err().code(), Code::DeadlineExceeded);
    assert!(place.runtime().shell("exit 0").run(SOON).unwrap().success());
    tools.shutdown(Duration::ZERO).unwrap();
}

#[test]
fn a_process_is_known_by_more_than_its_pid() {
    let place = Place::new();
    let process = place.runtime().command("sleep").arg("1000").spawn().unwrap();
    let identity = berth::Identity::of(process.pid().unwrap()).unwrap();
    assert!(identity.track().unwrap().memory_bytes.is_some());
    drop(process);
    assert_eq!(identity.liveness().unwrap(), berth::Liveness::Dead);
    assert_eq!(identity.track().unwrap().state, berth::ProcessState::NotFound);
}

/// Objects that may be shared are; builders are for one thread at a time.
#[test]
fn what_is_send_and_sync() {
    fn both<T: Send + Sync>() {}
    fn send<T: Send>() {}
    both::<Runtime>();
    both::<berth::Session>();
    both::<berth::Process>();
    both::<Policy>();
    both::<berth::Environment>();
    both::<berth::AgentRun>();
    both::<berth::AgentEvent>();
    both::<berth::PortLease>();
    both::<berth::SweepWatch>();
    both::<berth::ViolationFeed>();
    both::<berth::SweepReport>();
    both::<berth::Error>();
    send::<berth::SessionBuilder>();
    send::<berth::PolicyBuilder>();
    send::<berth::AgentBuilder>();
    send::<berth::AgentSubscription>();
    send::<berth::AgentLog>();
}
