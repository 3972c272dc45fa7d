//! Agents from Rust: those who look on, logs, and what a run may be told.
mod place;
use berth::{AgentBuilder, AgentEventKind, AgentLog, AgentStatus, Code, Prices};
use place::{wait_readable, Place, INIT, RESULT, SOON};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Command as Host, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A line of an agent's that is one event.
fn said(text: &str) -> String {
    format!(
        "echo '{{\"type\":\"assistant\",\"session_id\":\"s-1\",\"message\":{{\"id\":\"m\",\"role\":\"assistant\",\
         \"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}'\n"
    )
}

/// One that prints those lines.
fn agent(place: &Place, lines: &str) -> AgentBuilder {
    let program = place.program(&format!("cat >/dev/null\n{lines}"));
    place.runtime().agent("claude").prompt("x").command(program).state_dir(place.state())
}

#[test]
fn a_late_subscriber_is_given_what_has_been() {
    let place = Place::new();
    let run = agent(&place, &format!("{INIT}{RESULT}")).start().unwrap();
    let mut events = Vec::new();
    while let Some(event) = run.next_event(SOON).unwrap() {
        events.push(event.to_json().unwrap());
    }
    let mut late = run.subscribe(1).unwrap();
    for (passed, expected) in events.iter().enumerate() {
        assert_eq!(late.position(), passed as u64 + 1);
        let (event, missed) = late.next_event().unwrap();
        let event = event.unwrap();
        assert_eq!((&event.to_json().unwrap(), missed), (expected, 0));
        assert!(expected.contains(&event.kind().to_string()), "{expected}");
    }
    assert!(late.next_event().unwrap().0.is_none() && late.is_ended());
    assert!(run.result().unwrap().json.contains("\"reason\":\"success\""));
}

#[test]
fn a_slow_subscriber_is_told_what_it_missed() {
    let place = Place::new();
    let lines = format!("{INIT}{}{}{}{RESULT}", said("one"), said("two"), said("three"));
    let run = agent(&place, &lines).kept(2, 1 << 20).start().unwrap();
    let mut slow = run.subscribe(1).unwrap();
    run.drive(SOON).unwrap();
    wait_readable(&slow);
    let (first, missed) = slow.next_event().unwrap();
    assert!(missed >= 3 && first.unwrap().sequence() == missed as i64 + 1);
    let (last, none) = slow.next_event().unwrap();
    assert_eq!((last.unwrap().kind(), none), (AgentEventKind::Result, 0));
    assert!(slow.is_ended());
}

#[test]
fn a_log_is_followed_while_its_run_goes_on() {
    let place = Place::new();
    let before = SystemTime::now() - Duration::from_secs(1);
    let run = agent(&place, &format!("{INIT}{RESULT}")).names("story-9", "tester");
    let run = run.place(place.runtime().session("fix-42")).start().unwrap();
    let mut log = AgentLog::open(place.state(), "fix-42").unwrap();
    assert_eq!((log.run_id(), log.session_name()), (run.run_id(), "fix-42".into()));
    assert_eq!((log.agent(), log.agent_name(), log.story_id()), ("claude".into(), "tester".into(), "story-9".into()));
    assert!(log.started().unwrap() > before && !log.is_abandoned());
    let mut kinds = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| run.drive(SOON).unwrap());
        while log.end().unwrap().is_none() {
            wait_readable(&log);
            while let Some(event) = log.next_event().unwrap() {
                kinds.push(event.kind());
            }
        }
    });
    assert!(kinds.contains(&AgentEventKind::Text) && kinds.last() == Some(&AgentEventKind::Result), "{kinds:?}");
    assert!(log.end().unwrap().unwrap().json.contains("\"session_id\":\"s-1\""));
    assert_eq!(AgentLog::list(place.state()).unwrap(), [run.run_id()]);
    assert_eq!(AgentLog::open(place.state(), "nobody").err().unwrap().code(), Code::NotFound);
}

#[test]
fn lines_of_a_log_that_mean_nothing_are_counted() {
    let place = Place::new();
    let run = agent(&place, &format!("{INIT}{RESULT}")).start().unwrap();
    run.drive(SOON).unwrap();
    let path = place.state().join("agents").join(format!("{}.jsonl", run.run_id()));
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(b"not a line of ours\n").unwrap();
    let mut log = AgentLog::open(place.state(), &run.run_id()).unwrap();
    while log.next_event().unwrap().is_some() {}
    assert_eq!(log.unreadable_lines(), 1);
}

/// Not a test of its own: the program that is killed in the next one.
#[test]
fn agent_owner() {
    let Ok(state) = std::env::var("BERTH_AGENT_OWNER_STATE") else { return };
    let program = std::env::var("BERTH_AGENT_OWNER_PROGRAM").unwrap();
    let runtime = berth::Runtime::with_state_dir(&state).unwrap();
    let run = runtime.agent("claude").prompt("x").command(program).state_dir(state);
    let run = run.place(runtime.session("orphan")).start().unwrap();
    run.next_event(SOON).unwrap().unwrap();
    println!("\nstarted {}", run.run_id());
    run.next_event(None).unwrap();
}

#[test]
fn the_log_of_a_killed_owner_is_abandoned() {
    let place = Place::new();
    let program = place.program(&format!("cat >/dev/null\n{INIT}exec sleep 1000\n"));
    let mut owner = Host::new(std::env::current_exe().unwrap())
        .args(["agent_owner", "--exact", "--nocapture"])
        .env("BERTH_AGENT_OWNER_STATE", place.state())
        .env("BERTH_AGENT_OWNER_PROGRAM", program)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(owner.stdout.take().unwrap()).lines().map(|line| line.unwrap());
    let line = lines.find(|line| line.starts_with("started ")).unwrap();
    let session = place.runtime().find("orphan").unwrap();
    let mut log = AgentLog::open(place.state(), &line[8..]).unwrap();
    assert_eq!(log.next_event().unwrap().unwrap().kind(), AgentEventKind::Started);
    assert!(!log.is_abandoned());
    owner.kill().unwrap();
    owner.wait().unwrap();
    wait_readable(&log); // it was closed
    assert!(log.next_event().unwrap().is_none() && log.is_abandoned() && log.end().unwrap().is_none());
    session.destroy(Duration::ZERO).unwrap();
}

#[test]
fn prices_are_for_agents_that_do_not_tell_what_they_cost() {
    let place = Place::new();
    let result = r#"echo '{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"s-1","num_turns":1,"usage":{"input_tokens":1000000,"output_tokens":100000,"cache_creation_input_tokens":1000000,"cache_read_input_tokens":1000000}}'
"#;
    let prices = Prices { input: 4.0, output: 20.0, cache_creation: 1.0, cache_read: 0.5 };
    let run = agent(&place, &format!("{INIT}{result}")).prices(prices).start().unwrap();
    assert_eq!(run.drive(SOON).unwrap().usage.cost_usd, 7.5);
}

#[test]
fn secrets_are_taken_out_of_the_log_and_not_of_the_events() {
    let key = format!("sk-ant-api03-{}", "abcdefgh".repeat(8));
    let lines = format!("{INIT}{}{RESULT}", said(&format!("corp-123 and hunter22 and {key}")));
    for keep in [false, true] {
        let place = Place::new();
        let run = agent(&place, &lines).redactions(["corp-[0-9]+"], ["hunter22"]);
        let run = if keep { run.keep_keys() } else { run }.start().unwrap();
        run.next_event(SOON).unwrap();
        let event = run.next_event(SOON).unwrap().unwrap();
        assert!(event.text().contains("corp-123") && event.to_json().unwrap().contains("hunter22"), "{event:?}");
        run.drive(SOON).unwrap();
        let path = place.state().join("agents").join(format!("{}.jsonl", run.run_id()));
        let log = std::fs::read_to_string(path).unwrap();
        assert!(!log.contains("corp-123") && !log.contains("hunter22") && log.contains(&key) == keep, "{log}");
    }
}

#[test]
fn a_line_that_is_too_long_is_cut_and_told_so() {
    let place = Place::new();
    let lines = format!("{INIT}head -c 5000 /dev/zero | tr '\\0' x; echo\n{RESULT}");
    let run = agent(&place, &lines).max_line(1000).start().unwrap();
    run.next_event(SOON).unwrap();
    let cut = run.next_event(SOON).unwrap().unwrap();
    assert_eq!((cut.kind(), cut.raw().len(), cut.truncated_bytes()), (AgentEventKind::Raw, 1000, 4000));
}

/// Says no to each request, and counts them. It ends with this program.
fn busy_server(asked: &Arc<AtomicU32>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = asked.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let (mut line, mut length) = (String::new(), 0);
            while reader.read_line(&mut line).unwrap() > 2 {
                if let Some(size) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = size.trim().parse().unwrap();
                }
                line.clear();
            }
            reader.read_exact(&mut vec![0; length]).unwrap();
            asked.fetch_add(1, Ordering::SeqCst);
            let no = b"HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
            reader.get_mut().write_all(no).unwrap();
        }
    });
    url
}

#[test]
fn an_api_loop_tries_again_as_often_as_it_may() {
    let place = Place::new();
    let pause = Duration::from_millis(1);
    for retries in [0, 2] {
        let asked = Arc::new(AtomicU32::new(0));
        let run = place.runtime().agent("openai-api").prompt("x").state_dir(place.state());
        let run = run.api(&busy_server(&asked), "m", "k").api_system("be brief");
        let run = run.http_timeout(Duration::from_secs(60)).http_retries(retries, pause, pause).http_max_body(1 << 20);
        let result = run.start().unwrap().drive(SOON).unwrap();
        assert_eq!((result.status, asked.load(Ordering::SeqCst)), (AgentStatus::Failed, retries + 1), "{result:?}");
    }
}

#[test]
fn options_that_are_wrong_are_told() {
    let place = Place::new();
    let wrong = [
        agent(&place, "").prices(Prices { input: -1.0, ..Prices::default() }),
        agent(&place, "").redactions(["("], []),
        agent(&place, "").budget(1, f64::NAN, None),
    ];
    for agent in wrong {
        assert_eq!(agent.start().err().unwrap().code(), Code::InvalidArgument);
    }
}
