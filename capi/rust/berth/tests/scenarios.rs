//! The scenarios that hold through the C ABI, from Rust.
mod place;
use berth::{Code, Delivery, EndReason, Env, Liveness, OutputOptions, Runtime, SendOptions, Stdio};
use place::{Place, SOON};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::Command as Host;
use std::time::Duration;

fn read_until(mut reader: impl Read, text: &str) -> String {
    let mut all = Vec::new();
    let mut buffer = [0; 65536];
    while !String::from_utf8_lossy(&all).contains(text) {
        let n = reader.read(&mut buffer).unwrap();
        assert!(n > 0, "end of file; got {:?}", String::from_utf8_lossy(&all));
        all.extend_from_slice(&buffer[..n]);
    }
    String::from_utf8_lossy(&all).into_owned()
}

#[test]
fn lifecycle() {
    let place = Place::new();
    let session = place.runtime().session("one").argv(["cat"]).create().unwrap();
    assert_eq!(session.liveness().unwrap().0, Liveness::Alive);
    assert_eq!(session.send("hello there").unwrap(), Delivery::Submitted);
    read_until(session.stdout().unwrap(), "hello there\r\nhello there\r\n");
    assert_eq!(session.capture(0).unwrap(), "hello there\nhello there\n");
    session.destroy(Duration::from_secs(5)).unwrap();
    assert_eq!(session.liveness().unwrap().0, Liveness::Dead);
    session.destroy(Duration::from_secs(5)).unwrap();
    assert_eq!(session.send("x").unwrap_err().code(), Code::NotFound);
    assert_eq!(place.runtime().open_session(session.handle()).err().unwrap().code(), Code::NotFound);
    assert_eq!(place.runtime().open_session("native:nobody").err().unwrap().code(), Code::NotFound);
}

#[test]
fn names_and_keys_that_are_wrong_are_refused() {
    let place = Place::new();
    for name in ["../x", "a b", "", "$(id)", "a\nb"] {
        let refused = place.runtime().session(name).shell("true").create().err().unwrap();
        assert_eq!(refused.code(), Code::InvalidArgument, "{name}");
    }
    for key in ["A;B", "`id`", "$(id)", "1A", "A B", "", "=", "A\"B"] {
        let env = Env::basic().set(key, "value");
        let refused = place.runtime().shell("true").env(env).spawn().err().unwrap();
        assert_eq!(refused.code(), Code::InvalidArgument, "{key}");
    }
}

#[test]
fn values_of_the_environment_arrive_byte_by_byte() {
    let place = Place::new();
    let values: [&[u8]; 4] = [b"\"double\" 'single' `back` $(id)", b"two\nlines", b"\xff\x80", b""];
    let large = vec![b'x'; 100 << 10];
    let env = Env::clean().set("A", values[0]).set("B", values[1]).set("C", values[2]).set("D", &large);
    let process = place.runtime().command("/bin/cat").arg("/proc/self/environ").env(env).spawn().unwrap();
    let mut entries = Vec::new();
    process.take_stdout().unwrap().read_to_end(&mut entries).unwrap();
    let mut expected = Vec::new();
    for (key, value) in [("A", values[0]), ("B", values[1]), ("C", values[2]), ("D", &large)] {
        expected.extend_from_slice(key.as_bytes());
        expected.push(b'=');
        expected.extend_from_slice(value);
        expected.push(0);
    }
    assert!(entries == expected);
}

#[test]
fn what_is_sent_arrives_byte_exact_once_and_in_order() {
    let place = Place::new();
    let session = place.runtime().session("sink").argv(["cat"]).pipes().kept(0, 4 << 20).create().unwrap();
    let mut expected = Vec::new();
    let million: Vec<u8> = (0..1_048_576u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let options = SendOptions { submit: String::new(), ..SendOptions::default() };
    let texts: [&[u8]; 6] = [b"Enter", b"-x", b"abc;", b"~", b"", &million];
    let mut output = session.stdout().unwrap();
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        output.read_to_end(&mut all).unwrap();
        all
    });
    for text in texts {
        session.send_with(text, &options).unwrap();
        expected.extend_from_slice(text);
    }
    session.close_stdin().unwrap();
    assert!(reader.join().unwrap() == expected);
    assert!(session.wait(SOON).unwrap().success());
}

#[test]
fn a_wait_that_timed_out_then_a_kill_then_a_wait() {
    let place = Place::new();
    let process = place.runtime().command("sleep").arg("1000").spawn().unwrap();
    let late = process.wait(Some(Duration::from_millis(20))).unwrap_err();
    assert_eq!(late.code(), Code::DeadlineExceeded);
    process.signal(9).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| assert_eq!(process.wait(SOON).unwrap().signal(), Some(9)));
        }
    });
    assert_eq!(process.wait(SOON).unwrap().reason(), EndReason::Stopped);
}

#[test]
fn fast_exits_lose_nothing() {
    let place = Place::new();
    for i in 0..1000 {
        let process = place.runtime().shell(format!("echo {i}; exit {}", i % 256)).spawn().unwrap();
        let mut out = String::new();
        process.take_stdout().unwrap().read_to_string(&mut out).unwrap();
        assert_eq!(out, format!("{i}\n"));
        assert_eq!(process.wait(SOON).unwrap().code(), Some(i % 256));
    }
}

#[test]
fn streams_are_taken_once_and_stay_apart() {
    let place = Place::new();
    let process = place.runtime().shell("cat; echo err >&2; exit 3").stdin(Stdio::Pipe).spawn().unwrap();
    let mut input = process.take_stdin().unwrap();
    input.write_all(b"text").unwrap();
    drop(input);
    let (mut out, mut err) = (String::new(), String::new());
    process.take_stdout().unwrap().read_to_string(&mut out).unwrap();
    process.take_stderr().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((out.as_str(), err.as_str()), ("text", "err\n"));
    assert_eq!(process.take_stdout().err().unwrap().code(), Code::FailedPrecondition);
    assert_eq!(process.wait(SOON).unwrap().to_string(), "exited with code 3");
}

#[test]
fn output_is_read_from_where_it_is_said() {
    let place = Place::new();
    let two = place.runtime().session("two").pipes().shell("printf 0123456789; printf abcdef >&2").backend("native");
    let two = two.port_on("127.0.0.1", 53, None, true).wrapped_flake("/srv/project", "").create().unwrap();
    two.wait(SOON).unwrap();
    for (stderr, from, lag, expected) in
        [(false, 4, None, "456789"), (true, 2, Some(1 << 20), "cdef"), (false, 0, Some(0), "0123456789")]
    {
        let (mut reader, begins) = two.output(&OutputOptions { stderr, from: Some(from), lag }).unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), begins), (expected, from));
    }
}

#[test]
fn the_end_of_a_session_is_an_event() {
    let place = Place::new();
    let session = place.runtime().session("brief").shell("exit 7").create().unwrap();
    let event = place.runtime().next_event(SOON).unwrap().unwrap();
    assert_eq!((event.handle, event.name.as_str()), (session.handle(), "brief"));
    assert!(matches!(event.kind, berth::EventKind::Exited(exit) if exit.code() == Some(7)));
    assert!(place.runtime().next_event(Some(Duration::ZERO)).unwrap().is_none());
}

#[test]
fn dropping_a_process_ends_its_whole_tree() {
    let place = Place::new();
    let process = place.runtime().shell("setsid sleep 1000 & echo $!; wait").spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.take_stdout().unwrap()).read_line(&mut line).unwrap();
    let daemon = PathBuf::from("/proc").join(line.trim());
    assert!(daemon.exists());
    drop(process);
    assert!(!daemon.join("cwd").exists(), "{daemon:?}");
}

#[test]
fn many_threads_use_one_runtime() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let runtime = place.runtime();
            scope.spawn(move || {
                for round in 0..10 {
                    let code = (thread * 10 + round) % 256;
                    let process = runtime.shell(format!("exit {code}")).spawn().unwrap();
                    assert_eq!(process.wait(SOON).unwrap().code(), Some(code));
                }
            });
        }
    });
}

/// Not a test of its own: the program that is killed in `survival`.
#[test]
fn creator() {
    let Ok(state) = std::env::var("BERTH_CREATOR_STATE") else { return };
    let runtime = Runtime::with_state_dir(state).unwrap();
    let lasting = runtime.session("lasting").shell("echo before; read line; echo got $line; exit 9");
    let lasting = lasting.create().unwrap();
    let brief = runtime.session("brief").argv(["cat"]).ephemeral().create().unwrap();
    println!("\nhandles {} {}", lasting.handle(), brief.handle());
    std::thread::park();
}

#[test]
fn a_durable_session_survives_its_killed_creator_and_an_ephemeral_one_does_not() {
    let place = Place::new();
    let mut creator = Host::new(std::env::current_exe().unwrap())
        .args(["creator", "--exact", "--nocapture"])
        .env("BERTH_CREATOR_STATE", place.dir.join("state"))
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(creator.stdout.take().unwrap()).lines();
    let line = lines.map(|line| line.unwrap()).find(|line| line.starts_with("handles ")).unwrap();
    let handles: Vec<&str> = line.split(' ').collect();
    let brief = place.runtime().open_session(handles[2]).unwrap();
    creator.kill().unwrap();
    creator.wait().unwrap();
    let lasting = place.runtime().open_session(handles[1]).unwrap();
    read_until(lasting.stdout().unwrap(), "before");
    lasting.resize(50, 100).unwrap();
    lasting.send("on").unwrap();
    read_until(lasting.stdout().unwrap(), "got on");
    assert_eq!(lasting.wait(SOON).unwrap().code(), Some(9));
    // Its keeper saw the owner go and ended it.
    match brief.wait(SOON) {
        Ok(_) => (),
        Err(gone) => assert_eq!(gone.code(), Code::NotFound, "{gone}"),
    }
    brief.destroy(Duration::ZERO).unwrap(); // returns once nothing is left of it
}
