//! The reaper from Rust: sweeps, once and whenever something happens.
mod place;
use berth::{Code, Identity, Liveness, Runtime, Sweep, SweepReport, SweepResult, Verdict};
use place::{Place, SOON};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command as Host, Stdio};
use std::time::Duration;

/// Not a test of its own: the program that is killed in the next one.
#[test]
fn orphaner() {
    let Ok(state) = std::env::var("BERTH_ORPHANER_STATE") else { return };
    let runtime = Runtime::with_state_dir(state).unwrap();
    let line = "setsid sleep 1000 & (setsid sleep 1000 &); echo $!; exec sleep 1000";
    let session = runtime.session("orphan").shell(line).ephemeral().create().unwrap();
    let mut daemon = String::new();
    BufReader::new(session.stdout().unwrap()).read_line(&mut daemon).unwrap();
    println!("\ndaemon {}", daemon.trim());
    std::thread::park();
}

/// Starts that program; it has made its session, of which a process is given.
fn start_owner(place: &Place) -> (Child, Identity) {
    let mut owner = Host::new(std::env::current_exe().unwrap())
        .args(["orphaner", "--exact", "--nocapture"])
        .env("BERTH_ORPHANER_STATE", place.state())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    let line = lines.map(|line| line.unwrap()).find(|line| line.starts_with("daemon ")).unwrap();
    let daemon = Identity::of(line[7..].parse().unwrap()).unwrap();
    (owner, daemon)
}

fn kill(owner: &mut Child) {
    owner.kill().unwrap();
    owner.wait().unwrap();
}

#[test]
fn orphans_of_a_killed_owner_are_gone_after_one_sweep_and_the_living_stay() {
    let place = Place::new();
    let mine = place.runtime().session("mine").argv(["cat"]).create().unwrap();
    let (mut owner, daemon) = start_owner(&place);
    kill(&mut owner);
    let report = Sweep::new().grace(Duration::ZERO).run(place.state()).unwrap();
    assert_eq!(report.failed, 0, "{}", report.json);
    assert_eq!(daemon.liveness().unwrap(), Liveness::Dead);
    assert_eq!(place.runtime().find("orphan").err().unwrap().code(), Code::NotFound);
    assert_eq!(mine.liveness().unwrap().0, Liveness::Alive);
    let item = Sweep::new().explain(place.state(), "mine").unwrap();
    assert_eq!(item.verdict, Verdict::Keep);
    assert!(!item.because.is_empty());
}

/// Of a killed owner: nobody but a sweep removes it.
fn removed_a_lease(report: &SweepReport) -> bool {
    report.items.iter().any(|item| item.kind == "lease" && item.result == SweepResult::Done)
}

#[test]
fn a_watch_sweeps_when_an_owner_ends() {
    let place = Place::new();
    let watch = Sweep::new().settle(Duration::from_millis(10)).watch(place.state()).unwrap();
    let first = watch.next_report(SOON).unwrap().unwrap();
    assert!(first.failed == 0 && !removed_a_lease(&first), "{}", first.json);
    assert!(watch.next_report(Some(Duration::ZERO)).unwrap().is_none());
    let (mut owner, _) = start_owner(&place);
    assert!(!removed_a_lease(&watch.next_report(SOON).unwrap().unwrap()));
    kill(&mut owner);
    while !removed_a_lease(&watch.next_report(SOON).unwrap().unwrap()) {}
}

#[test]
fn a_watch_is_stopped_from_another_thread() {
    let place = Place::new();
    let watch = Sweep::new().watch(place.state()).unwrap();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| loop {
            if let Err(error) = watch.next_report(None) {
                return error.code();
            }
        });
        watch.stop().unwrap();
        assert_eq!(waits.join().unwrap(), Code::Cancelled);
    });
    assert_eq!(watch.next_report(None).unwrap_err().code(), Code::Cancelled);
    let wrong = Sweep::new().filter(["("], []).watch(place.state()).err().unwrap();
    assert_eq!(wrong.code(), Code::InvalidArgument);
}

#[test]
fn a_report_is_read_by_another_process() {
    let place = Place::new();
    place.runtime().session("mine").argv(["cat"]).create().unwrap();
    let report = Sweep::new().dry_run().show_kept().run(place.state()).unwrap();
    assert!(report.sessions == 1 && report.passes >= 1 && report.took > Duration::ZERO && report.exit_code == 0);
    assert!(report.text.contains("mine") && report.metrics.contains("# TYPE berth_reaper"), "{report:?}");
    let again = SweepReport::from_json(&report.json).unwrap();
    assert_eq!((again.items, again.kept, again.sessions), (report.items, 1, 1));
    assert_eq!(SweepReport::from_json("[]").unwrap_err().code(), Code::InvalidArgument);
}
