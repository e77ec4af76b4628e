//! Where a case runs: a throw-away HOME and repository, a clean environment, one child; and what is left when it is over.
//!
//! All of it is inside name spaces of network and processes that hold nothing else, so that whatever is there afterwards
//! was left behind by the case.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::Cli;

/// How long what is dying may take to be gone.
const GRACE: Duration = Duration::from_millis(500);

/// Refuses to go on where a CLI could reach a network, or where this is not a name space of processes of its own.
///
/// # Errors
/// What is wrong, in words.
pub fn check() -> Result<(), String> {
    let text = |path: &str| fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
    let nets = text("/proc/net/dev")?;
    let names: Vec<&str> = nets.lines().filter_map(|line| Some(line.split_once(':')?.0.trim())).collect();
    if names != ["lo"] {
        return Err(format!("there is more than loopback: {}; call this by `run`", names.join(" ")));
    }
    let others = processes()?;
    if !others.is_empty() {
        return Err("other processes are in sight; call this by `run`".into());
    }
    Ok(())
}

/// Processes beside the first, this one and what is dead, by number and name.
///
/// # Errors
/// The list of processes cannot be read.
pub fn processes() -> Result<Vec<(u32, String)>, String> {
    let own = std::process::id();
    let all = fs::read_dir("/proc").map_err(|error| format!("processes: {error}"))?;
    let mut out = Vec::new();
    for entry in all.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        // gone since it was listed
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
        let (Some(open), Some(close)) = (stat.find('('), stat.rfind(')')) else { continue };
        let dead = stat[close + 1..].trim_start().starts_with(['Z', 'X']);
        if pid != 1 && pid != own && !dead {
            out.push((pid, stat[open + 1..close].to_owned()));
        }
    }
    out.sort();
    Ok(out)
}

/// Sockets that listen in this name space of networks, other than on this port.
pub fn listeners(ours: u16) -> Vec<String> {
    let mut out = Vec::new();
    for file in ["tcp", "tcp6"] {
        let text = fs::read_to_string(format!("/proc/net/{file}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (Some(local), Some(&"0A")) = (fields.get(1), fields.get(3)) else { continue };
            let port = local.rsplit(':').next().and_then(|hex| u16::from_str_radix(hex, 16).ok());
            if port != Some(ours) {
                out.push(format!("{file} {local}"));
            }
        }
    }
    let text = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if fields.get(3) == Some(&"00010000") {
            out.push(format!("unix {}", fields.get(7).unwrap_or(&"unnamed")));
        }
    }
    out
}

/// What a case left behind, in words; and an end to it, so that the next case starts clean.
pub fn left_behind(port: u16) -> Vec<String> {
    let until = Instant::now() + GRACE;
    loop {
        let found = processes().unwrap_or_default();
        let sockets = listeners(port);
        if found.is_empty() && sockets.is_empty() {
            return Vec::new();
        }
        if Instant::now() >= until {
            let mut out: Vec<String> = found.iter().map(|(pid, name)| format!("process {pid} {name}")).collect();
            out.extend(sockets.into_iter().map(|socket| format!("socket {socket}")));
            found.iter().for_each(|(pid, _)| signal(*pid, "KILL"));
            thread::sleep(GRACE);
            return out;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Sends a signal to one process.
pub fn signal(pid: u32, name: &str) {
    // one that is gone cannot be told, and need not be
    let _ = Command::new("kill").args(["-s", name, &pid.to_string()]).stderr(Stdio::null()).status();
}

/// The folders of one case.
pub struct Place {
    pub root: PathBuf,
    pub home: PathBuf,
    pub repo: PathBuf,
    bin: PathBuf,
    env: Vec<(String, String)>,
}

impl Place {
    /// Makes them, with the CLI set up to talk to the port.
    ///
    /// # Errors
    /// What cannot be written, and a git that does not work.
    pub fn new(work: &Path, cli: &Cli, case: &str, program: &[PathBuf], port: u16) -> io::Result<Self> {
        let root = work.join(cli.name).join(case);
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        let [home, repo, bin, tmp] = ["home", "repo", "bin", "tmp"].map(|name| root.join(name));
        for folder in [&home, &repo, &bin, &tmp] {
            fs::create_dir_all(folder)?;
        }
        for (path, text) in cli.files(port) {
            let path = home.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&home))?;
            fs::write(path, text)?;
        }
        for kept in cli.kept {
            let (from, to) = (work.join(cli.name).join("kept").join(kept), home.join(kept));
            fs::create_dir_all(&from)?;
            fs::create_dir_all(to.parent().unwrap_or(&home))?;
            std::os::unix::fs::symlink(from, to)?;
        }
        let words: Vec<String> = program.iter().map(|path| format!("'{}'", path.display())).collect();
        let script = bin.join(cli.name);
        fs::write(&script, format!("#!/bin/sh\nexec {} \"$@\"\n", words.join(" ")))?;
        fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let path = |path: &Path| path.display().to_string();
        let mut env = vec![
            ("PATH".to_owned(), format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display())),
            ("HOME".to_owned(), path(&home)),
            ("TMPDIR".to_owned(), path(&tmp)),
            ("TERM".to_owned(), "dumb".to_owned()),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
        ];
        env.extend(cli.env(port).map(|(name, value)| (name.to_owned(), value)));
        let place = Self { root, home, repo, bin, env };
        fs::write(place.repo.join("README.md"), "# A project\n")?;
        for words in [
            &["init", "-q", "-b", "main"][..],
            &["add", "-A"],
            &["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "start"],
        ] {
            let status = place.command(Path::new("git")).args(words).status()?;
            if !status.success() {
                return Err(io::Error::other(format!("git {}: {status}", words[0])));
            }
        }
        Ok(place)
    }

    /// The script that runs the CLI.
    pub fn cli(&self, cli: &Cli) -> PathBuf {
        self.bin.join(cli.name)
    }

    /// A command in the repository with nothing of this process's environment.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.env.iter().map(|(name, value)| (name, value))).current_dir(&self.repo);
        command.stdin(Stdio::null());
        command
    }

    /// Starts a command with its output in files of the case, and this text on its standard input.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(&self, mut command: Command, stdin: Option<&str>) -> io::Result<Child> {
        command.stdout(File::create(self.root.join("out"))?).stderr(File::create(self.root.join("err"))?);
        if stdin.is_some() {
            command.stdin(Stdio::piped());
        }
        let mut child = command.spawn()?;
        if let (Some(mut pipe), Some(text)) = (child.stdin.take(), stdin) {
            pipe.write_all(text.as_bytes())?;
        }
        Ok(child)
    }

    /// What the command wrote, as text.
    pub fn wrote(&self, file: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.root.join(file)).unwrap_or_default()).into_owned()
    }
}

/// Waits for a child; `None`, and an end to it, when it takes longer.
///
/// # Errors
/// It cannot be waited for.
pub fn wait(child: &mut Child, most: Duration) -> io::Result<Option<ExitStatus>> {
    let until = Instant::now() + most;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= until {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(10));
    }
}
