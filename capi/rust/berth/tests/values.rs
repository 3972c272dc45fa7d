//! What values say, from Rust: versions, names, exits, policies, environments.
mod place;
use berth::{Access, Code, Env, Features, Limit, Network, Policy, Tier};
use place::{Place, SOON};
use std::path::Path;

#[test]
fn the_library_tells_its_version_and_features() {
    assert!(berth::abi_version() >= berth::ABI_VERSION);
    assert!(berth::features().contains(Features::NATIVE | Features::AGENTS | Features::POLICY));
    assert!(!Features::NATIVE.contains(Features::TMUX));
}

#[test]
fn values_have_words() {
    let words: [(&dyn std::fmt::Display, &str); 17] = [
        (&berth::AbilityState::Weaker, "weaker"),
        (&berth::ChangeKind::Added, "added"),
        (&berth::FileType::Symlink, "symlink"),
        (&berth::Delivery::Confirmed, "confirmed"),
        (&berth::Liveness::Alive, "alive"),
        (&berth::Liveness::Unknown, "unknown"),
        (&berth::SessionState::Running, "running"),
        (&berth::ProcessState::UninterruptibleSleep, "uninterruptible sleep"),
        (&berth::AgentEnd::ResumeRefused, "resume_refused"),
        (&berth::AgentEnd::Other(99), "unknown"),
        (&berth::AgentStatus::Failed, "failed"),
        (&berth::AgentEventKind::ToolCall, "tool_call"),
        (&berth::Layer::Network, "network"),
        (&berth::Verdict::Doubt, "doubt"),
        (&berth::SweepResult::OutOfTime, "out_of_time"),
        (&Tier::Pooled, "pooled"),
        (&Code::NotFound, "NOT_FOUND"),
    ];
    for (value, word) in words {
        assert_eq!(value.to_string(), word);
        assert_eq!(format!("{value:>24}"), format!("{word:>24}"));
    }
    assert_eq!("none".parse::<Tier>().unwrap_err().code(), Code::InvalidArgument);
    for tier in [Tier::Auto, Tier::Namespaces, Tier::Pooled, Tier::Landlock] {
        assert_eq!(tier.to_string().parse(), Ok(tier));
    }
}

#[test]
fn what_a_policy_says_can_be_read() {
    let policy = Policy::empty()
        .system()
        .debugging()
        .report_files()
        .bind(Access::ReadOnly, "/opt/tools", "/tools")
        .path_if_there(Access::ReadWrite, "/srv/project")
        .bind_if_there(Access::ReadOnly, "/opt/more", "/more")
        .tmpfs("/scratch")
        .allow_domains(["github.com", "*.npmjs.org"])
        .deny_syscalls(["kexec_load"])
        .limit(Limit::Pids, 7)
        .tier(Tier::Landlock)
        .hostname("inside")
        .build()
        .unwrap();
    assert_eq!(
        (policy.tier(), policy.network(), policy.hostname()),
        (Tier::Landlock, Network::AllowList, "inside".into())
    );
    assert!(policy.system() && policy.debugging() && !policy.private_home() && !policy.host_pid_namespace());
    assert!(!policy.inherited_environment() && !policy.docker_socket() && !policy.seccomp_off());
    assert!(policy.report_files() && !Policy::strict().build().unwrap().report_files());
    assert!(!policy.nested_user_namespaces());
    assert_eq!((policy.limit(Limit::Pids), policy.limit(Limit::Memory)), (Some(7), None));
    let paths = policy.paths().unwrap();
    let seen: Vec<_> = paths.iter().map(|it| (it.access.unwrap(), &*it.path, &*it.inside, it.if_there)).collect();
    let expected = [
        (Access::ReadOnly, Path::new("/opt/tools"), Path::new("/tools"), false),
        (Access::ReadWrite, Path::new("/srv/project"), Path::new("/srv/project"), true),
        (Access::ReadOnly, Path::new("/opt/more"), Path::new("/more"), true),
    ];
    assert_eq!(seen, expected);
    assert_eq!(policy.domains().unwrap(), ["github.com", "*.npmjs.org"]);
    assert_eq!(policy.tmpfs().unwrap(), ["/scratch"]);
    assert_eq!(policy.denied_syscalls().unwrap(), ["kexec_load"]);
    let families = Policy::strict().socket_families(["unix"]).build().unwrap();
    assert_eq!(families.socket_families().unwrap(), ["unix"]);
    let weak = Policy::empty().private_home().dangerous_host_network().dangerous_host_pid_namespace();
    let weak = weak.dangerous_inherited_environment().dangerous_docker_socket().dangerous_seccomp_off();
    let weak = weak.dangerous_nested_user_namespaces().build().unwrap();
    assert!(weak.private_home() && weak.host_pid_namespace() && weak.inherited_environment() && weak.docker_socket());
    assert!(weak.network() == Network::Host && weak.seccomp_off() && weak.nested_user_namespaces());
}

#[test]
fn an_environment_is_resolved_and_laid_beneath_another() {
    let below = Env::clean().set("A", "below").set("B", "below").append("P", "/below", ":");
    let env = Env::clean().set("A", "here").append("P", "/here", ":").beneath(below).set("C", "after");
    let mut entries = env.resolve().unwrap();
    entries.sort();
    assert_eq!(entries, ["A=here", "B=below", "C=after", "P=/below:/here"]);
    let wrong = Env::clean().beneath(Env::clean().set("1A", "x"));
    assert_eq!(wrong.resolve().unwrap_err().code(), Code::InvalidArgument);
}

#[test]
fn an_exit_has_the_code_that_a_shell_would_give_and_a_start_its_times() {
    let place = Place::new();
    let killed = place.runtime().shell("kill -9 $$").spawn().unwrap();
    let timing = killed.timing().unwrap();
    assert!(timing.requested.is_some() && timing.requested <= timing.received && timing.received <= timing.started);
    assert!(timing.started <= timing.replied);
    let exit = killed.wait(SOON).unwrap();
    assert!(exit.shell_code() == 137 && !exit.success(), "{exit}");
    assert_eq!(place.runtime().shell("exit 3").run(SOON).unwrap().shell_code(), 3);
}
