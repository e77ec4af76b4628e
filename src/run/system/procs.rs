//! Which processes there are, whose they are, and their end.
//!
//! An agent's tools open sessions of their own and outlive the agent; a signal to its group does not reach them. On Linux this
//! process becomes the parent of all who lose theirs, so whatever an agent started stays below it and is found in `/proc`. Elsewhere
//! `ps` tells parents and groups: weaker, because a process whose parent is gone belongs to nobody. A zombie is dead.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};

use crate::run::agent::RUN_VARIABLE;
use crate::trace::ProcessId;

/// How often a sweep looks again, and how long it waits between: processes that fork while they are killed are met again.
const LOOKS: u32 = 200;
const BETWEEN: Duration = Duration::from_millis(5);

/// A process as the system tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// Its parent's.
    pub parent: i32,
    /// Its group's.
    pub group: i32,
    /// It is dead, and its parent has not taken notice.
    pub zombie: bool,
    /// When it began, in the system's ticks since the boot; 0 where the system does not say.
    pub began: u64,
}

/// Makes this process the parent of all below it who lose theirs, where the system can.
///
/// # Errors
/// Those of the system.
pub fn adopt() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(getpid()))?;
    Ok(())
}

pub(super) fn me() -> i32 {
    getpid().as_raw_nonzero().get()
}

/// The program that runs, even where its file was replaced since.
pub(super) fn this_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok(PathBuf::from("/proc/self/exe")) } else { std::env::current_exe() }
}

/// All processes.
#[cfg(target_os = "linux")]
#[must_use]
pub fn all() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(one).collect()
}

#[cfg(target_os = "linux")]
fn one(pid: i32) -> Option<Process> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // the name, in brackets, may hold anything
    let mut fields = text.get(text.rfind(')')? + 1..)?.split_ascii_whitespace();
    let (state, parent, group) = (fields.next()?, fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let began = fields.nth(16).and_then(|ticks| ticks.parse().ok()).unwrap_or(0);
    Some(Process { pid, parent, group, zombie: matches!(state, "Z" | "X"), began })
}

/// All processes.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn all() -> Vec<Process> {
    let Ok(listed) = std::process::Command::new("ps").args(["-axo", "pid=,ppid=,pgid=,state="]).output() else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&listed.stdout);
    text.lines()
        .filter_map(|line| {
            let mut fields = line.split_ascii_whitespace();
            let (pid, parent, group) =
                (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
            Some(Process { pid, parent, group, zombie: fields.next()?.starts_with('Z'), began: 0 })
        })
        .collect()
}

pub(super) fn children_of(parent: i32) -> BTreeSet<i32> {
    all().into_iter().filter(|process| process.parent == parent).map(|process| process.pid).collect()
}

/// What tells this process from a later one of the same number.
pub(super) fn identify(pid: Pid) -> ProcessId {
    let number = pid.as_raw_nonzero().get();
    ProcessId { pid: number.unsigned_abs(), began_ticks: began(number), boot: boot() }
}

#[cfg(target_os = "linux")]
fn began(pid: i32) -> Option<u64> {
    one(pid).map(|process| process.began)
}

#[cfg(not(target_os = "linux"))]
fn began(_pid: i32) -> Option<u64> {
    None
}

fn boot() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

/// Whether this very process still lives; a zombie does not.
#[must_use]
pub fn lives(id: &ProcessId) -> bool {
    let Ok(pid) = i32::try_from(id.pid) else { return false };
    let same_boot = id.boot.is_none() || id.boot == boot();
    let found = all().into_iter().find(|process| process.pid == pid && !process.zombie);
    same_boot
        && found.is_some_and(|process| id.began_ticks.is_none_or(|began| process.began == began || process.began == 0))
}

/// Kills the group of an agent that an earlier process of this run started, and all that carry the run's name; says how many there were.
#[must_use]
pub fn end_of_run(id: Option<&ProcessId>, run: &str) -> usize {
    let group = id.filter(|id| lives(id)).and_then(|id| i32::try_from(id.pid).ok());
    let mark = format!("{RUN_VARIABLE}={run}");
    let me = me();
    kill_all(|all| {
        let marked = all.iter().filter(|process| process.pid != me && carries(process.pid, &mark));
        let of_group = all.iter().filter(|process| Some(process.group) == group);
        marked.chain(of_group).map(|process| process.pid).collect()
    })
}

/// Whether a process was started with this in its environment.
fn carries(pid: i32, mark: &str) -> bool {
    let Ok(environment) = std::fs::read(format!("/proc/{pid}/environ")) else { return false };
    environment.split(|&byte| byte == 0).any(|entry| entry == mark.as_bytes())
}

/// Kills what an agent left: its group, all below it, and whatever became this process's child since it began. `waited_for` is reaped
/// elsewhere.
pub(super) fn sweep(group: Pid, waited_for: Option<Pid>, strangers: &BTreeSet<i32>) -> usize {
    let group = group.as_raw_nonzero().get();
    let waited_for = waited_for.map(|pid| pid.as_raw_nonzero().get());
    let me = me();
    let of_agent = |all: &[Process]| -> BTreeSet<i32> {
        let children: BTreeMap<i32, Vec<i32>> = all.iter().fold(BTreeMap::new(), |mut children, process| {
            children.entry(process.parent).or_insert_with(Vec::new).push(process.pid);
            children
        });
        let mut found: BTreeSet<i32> =
            all.iter().filter(|process| process.group == group).map(|process| process.pid).collect();
        let mut next: Vec<i32> =
            children.get(&me).into_iter().flatten().copied().filter(|pid| !strangers.contains(pid)).collect();
        while let Some(pid) = next.pop() {
            if found.insert(pid) || children.contains_key(&pid) {
                next.extend(children.get(&pid).into_iter().flatten().filter(|child| !found.contains(child)));
            }
        }
        found.remove(&me);
        found
    };
    let killed = kill_all(of_agent);
    // those that are dead and ours are taken notice of
    for process in all().into_iter().filter(|process| process.parent == me && process.zombie) {
        if Some(process.pid) != waited_for && process.pid != group && !strangers.contains(&process.pid) {
            reap(process.pid);
        }
    }
    killed
}

/// Kills whom `choose` chooses until none of them lives, and says how many there were.
fn kill_all(choose: impl Fn(&[Process]) -> BTreeSet<i32>) -> usize {
    let mut killed = BTreeSet::new();
    for _ in 0..LOOKS {
        let all = all();
        let chosen = choose(&all);
        let alive: Vec<i32> = all
            .iter()
            .filter(|process| !process.zombie && chosen.contains(&process.pid))
            .map(|process| process.pid)
            .collect();
        if alive.is_empty() {
            break;
        }
        for pid in alive {
            if let Some(pid) = Pid::from_raw(pid) {
                // whoever left by itself in the meantime needs no signal
                let _ = kill_process(pid, Signal::KILL);
            }
            killed.insert(pid);
        }
        pause();
    }
    killed.len()
}

fn reap(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

#[expect(clippy::disallowed_methods, reason = "the system tells nobody when a process that is not a child is gone")]
fn pause() {
    thread::sleep(BETWEEN);
}
