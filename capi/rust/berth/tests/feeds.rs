//! What is told as it happens, from Rust: violations, the progress of pulls.
mod place;
use berth::{Code, EventKind, Image, Layer, Policy};
use place::{wait_readable, Place, SOON};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};

#[test]
fn violations_are_told_as_they_happen() {
    let place = Place::new();
    let policy = Policy::agent(place.work()).build().unwrap();
    let held = place.runtime().session("held").shell("while read line; do unshare -U true; done").pipes();
    let session = held.cwd(place.work()).policy(&policy).create().unwrap();
    let feed = session.watch_violations(0).unwrap();
    assert_eq!(feed.next().unwrap(), Some(vec![]));
    session.send("try it").unwrap();
    // The event says that there is one.
    let event = place.runtime().next_event(SOON).unwrap().unwrap();
    let EventKind::Violation(told) = event.kind else { panic!("{event:?}") };
    assert!(told.layer == Layer::Syscall && told.what.contains("unshare"), "{told}");
    wait_readable(&feed); // which may come to it after the event
    let seen = feed.next().unwrap().unwrap();
    assert_eq!((seen[0].number, &seen[0].what), (1, &told.what));
    session.close_stdin().unwrap();
    session.wait(SOON).unwrap();
    let plain = place.runtime().session("plain").argv(["cat"]).create().unwrap();
    assert_eq!(plain.watch_violations(0).err().unwrap().code(), Code::FailedPrecondition);
}

const IMAGE: &str = r#"{"Id":"sha256:1","Architecture":"amd64","Config":{"Env":["A=b"]}}"#;
const LINES: &str = r#"{"id":"l1","status":"Downloading","progressDetail":{"current":25,"total":100}}
{"id":"l1","status":"Pull complete"}
"#;

/// Answers one request; the connection is closed then.
fn answer(mut stream: UnixStream) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut request, mut length) = (String::new(), 0);
    reader.read_line(&mut request).unwrap();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() <= 2 {
            break;
        }
        if let Some(size) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = size.trim().parse().unwrap();
        }
    }
    let mut sent = vec![0; length];
    reader.read_exact(&mut sent).unwrap();
    let body = match request.split(' ').nth(1).unwrap() {
        path if path.contains("/images/create") => LINES,
        path if path.contains("/images/load") && sent != b"a tar" => "{\"error\":\"not a tar\"}",
        path if path.contains("/images/small:1/json") => IMAGE,
        _ => "",
    };
    let head = "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nConnection: close\r\nContent-Length:";
    write!(stream, "{head} {}\r\n\r\n{body}", body.len()).unwrap();
}

/// A container engine that has one image, and where it is. It ends with this program.
fn engine(place: &Place) -> String {
    let path = place.dir.join("engine.sock");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || listener.incoming().for_each(|stream| answer(stream.unwrap())));
    format!("unix://{}", path.display())
}

#[test]
fn a_pull_tells_how_far_it_is_and_is_given_up() {
    let place = Place::new();
    let engine = engine(&place);
    let mut told = Vec::new();
    let image = berth::pull_image(&engine, "small:1", SOON, |progress| {
        told.push(progress);
        true
    });
    let image = image.unwrap();
    assert_eq!((image.id.as_str(), image.env.as_slice()), ("sha256:1", ["A=b".to_owned()].as_slice()));
    assert_eq!((told[0].layer.as_str(), told[0].done, told[0].total, told[0].percent), ("l1", 25, 100, 25));
    assert_eq!((told.len(), told[1].layers_done, told[1].percent), (2, 1, 100));
    let given_up = berth::pull_image(&engine, "small:1", SOON, |_| false);
    assert_eq!(given_up.unwrap_err().code(), Code::Cancelled);
}

#[test]
fn a_panic_of_who_is_told_comes_out_of_the_pull() {
    let place = Place::new();
    let engine = engine(&place);
    let panicked = std::panic::catch_unwind(|| berth::pull_image(&engine, "small:1", SOON, |_| panic!("enough")));
    assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"enough"));
}

#[test]
fn an_image_is_loaded_and_imported() {
    let place = Place::new();
    let engine = engine(&place);
    Image::load(&engine, b"a tar").unwrap();
    assert_eq!(Image::load(&engine, b"x").unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(Image::import(&engine, b"a tar", "small:1", ["ENV A=b"]).unwrap().architecture, "amd64");
}

#[test]
fn an_engine_that_is_not_there_is_unavailable_and_a_panic_does_not_cross() {
    let nowhere = "unix:///nonexistent/docker.sock";
    assert_eq!(berth::Image::inspect(nowhere, "alpine").unwrap_err().code(), Code::Unavailable);
    let pulled = berth::pull_image(nowhere, "alpine", SOON, |_| panic!("never told"));
    assert_eq!(pulled.unwrap_err().code(), Code::Unavailable);
}
