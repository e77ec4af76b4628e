//! Git, where the project has it: what a round changed, and a commit of just that.
//!
//! It is the `git` of the person, started with fixed arguments and an environment of its own: no pager, no prompt, no editor, no hooks
//! (`core.hooksPath` is empty: a hook is code that an agent can write, and may wait for an answer), no file monitor, no signing of commits. Variables
//! that point git elsewhere are taken away. Nothing is ever pushed.
//!
//! **What a round changed** is the difference of two snapshots. They are kept by a repository of flyball's own in the run's folder, with an
//! index of its own; objects that the project's repository has are borrowed from it. So nothing is written to the person's `.git`, whatever is staged
//! there stays so, and it works in a subfolder of a repository, in one without a commit and where there is none. What the project ignores
//! is not in it; filters and attributes are not applied. Without git there are names, sizes and hashes, by [`by_name`].
//!
//! **A commit** holds what is not as committed after the round and was so before it. Files that were somebody's before the round are left
//! alone and named, and so are repositories that the round made inside the project, and submodules with changes that they have not committed
//! themselves. What was staged stays staged.
//!
//! **What a person may have forgotten**, a HEAD on no branch or a rebase half done, is told by [`Git::standing`] and never mended.
//!
//! Whether HEAD moved is for the caller to see: [`Git::head`] before and after the agent, before flyball commits.
//!
//! Units: milliseconds, bytes.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::os::{CheckEnd, Checked, Keep, Os};
use super::place::Place;
use super::system::files::path_of;
use super::tree::{How, Kind, Tree, hex};
use crate::engine::{Millis, counted};

/// How long one command of git may take.
const LIMIT: Millis = Millis::from_secs(120);
/// How much of what it prints is read, in bytes.
const KEPT: usize = 64 * 1024 * 1024;
/// The largest file that a snapshot holds, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;
/// Variables that point git elsewhere.
const UNSET: [&str; 14] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CEILING_DIRECTORIES",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_EXTERNAL_DIFF",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
];
/// Settings of each call.
const SET: [&str; 6] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.quotePath=false",
    "commit.gpgSign=false",
    "advice.addEmbeddedRepo=false",
];

/// The git of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Git {
    project: PathBuf,
    record: PathBuf,
    /// The work tree's top folder, where the project is in a repository.
    top: Option<PathBuf>,
    /// The project's folder below it, as git says it: with a `/` at its end, or nothing.
    prefix: Vec<u8>,
    /// Git can be started.
    there: bool,
}

/// What was not as committed at one moment, by path from the repository's top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dirty {
    paths: BTreeSet<PathBuf>,
    /// Other repositories inside.
    nested: BTreeSet<PathBuf>,
}

/// A moment of the project, for a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot(String);

/// A commit that was made, or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// Its name; none where there was nothing to commit.
    pub id: Option<String>,
    /// How many paths it holds.
    pub paths: usize,
    /// For people: what was left alone.
    pub notes: Vec<String>,
}

impl Dirty {
    /// How many paths.
    #[must_use]
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether everything was as committed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// The paths.
    #[must_use]
    pub const fn paths(&self) -> &BTreeSet<PathBuf> {
        &self.paths
    }

    /// As bytes, to be kept in case the round is cut off.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = list_of(self.paths.iter());
        for folder in &self.nested {
            bytes.extend_from_slice(folder.as_os_str().as_encoded_bytes());
            bytes.extend_from_slice(b"/\0");
        }
        bytes
    }

    /// What was kept.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let entries = bytes.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        let (nested, paths): (Vec<_>, Vec<_>) = entries.partition(|path| path.ends_with(b"/"));
        let of = |paths: Vec<&[u8]>| paths.into_iter().map(path_of).collect();
        Self { paths: of(paths), nested: of(nested) }
    }
}

/// What git says of the project at one moment.
#[derive(Debug, Default)]
struct Status {
    dirty: Dirty,
    /// Paths that git does not know.
    unknown: BTreeSet<PathBuf>,
    /// Submodules with changes that they have not committed themselves: no commit of this repository can hold those.
    modules: BTreeSet<PathBuf>,
}

impl Status {
    /// Takes one entry of `git status --porcelain=v2 -z` without renames.
    fn take(&mut self, entry: &[u8]) {
        let (unknown, fields) = match entry.first() {
            Some(b'?') => (true, 2),
            Some(b'1') => (false, 9),
            // not merged yet
            Some(b'u') => (false, 11),
            Some(_) | None => return,
        };
        let parts: Vec<&[u8]> = entry.splitn(fields, |byte| *byte == b' ').collect();
        let Some(path) = parts.get(fields - 1) else { return };
        if let Some(folder) = path.strip_suffix(b"/") {
            self.dirty.nested.insert(path_of(folder));
            return;
        }
        if unknown {
            self.unknown.insert(path_of(path));
        } else if let [b'S', commit, content @ ..] = parts[2]
            && content.iter().any(|mark| *mark != b'.')
        {
            self.modules.insert(path_of(path));
            if *commit == b'.' && parts[1] == b".M" {
                return;
            }
        }
        self.dirty.paths.insert(path_of(path));
    }
}

/// What may be under way in a repository, and the file or folder in git's own by which it is known; of several the first.
const UNDER_WAY: [(&str, &str); 5] = [
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
];

/// One call.
struct Call<'a> {
    words: Vec<&'a str>,
    folder: &'a Path,
    set: Vec<(String, String)>,
    stdin: Vec<u8>,
    keep: Keep,
}

impl Git {
    /// Looks whether there is git, and a repository that the project is in.
    pub fn find(os: &mut impl Os, place: &Place) -> Self {
        let (project, record) = (place.project.clone(), place.record.clone());
        let mut git = Self { project, record, top: None, prefix: Vec::new(), there: false };
        git.there = git.ask(os, &["--version"]).is_ok();
        if git.there {
            let said = |git: &Self, os: &mut _, word: &str| {
                git.ask(os, &["rev-parse", word]).ok().map(|bytes| without_end(&bytes).to_vec())
            };
            git.top = said(&git, os, "--show-toplevel").filter(|top| !top.is_empty()).map(|top| path_of(&top));
            git.prefix = said(&git, os, "--show-prefix").unwrap_or_default();
        }
        git
    }

    /// Whether git can be started.
    #[must_use]
    pub const fn is_there(&self) -> bool {
        self.there
    }

    /// Whether the project is in a repository.
    #[must_use]
    pub const fn has_repository(&self) -> bool {
        self.top.is_some()
    }

    /// The name of the present commit; none where there is none.
    pub fn head(&self, os: &mut impl Os) -> Option<String> {
        self.top.as_ref()?;
        text(&self.ask(os, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).ok()?)
    }

    /// A file of the project as a commit has it.
    pub fn committed(&self, os: &mut impl Os, commit: &str, path: &Path) -> Option<Vec<u8>> {
        self.top.as_ref()?;
        let name = format!("{commit}:./{}", path.to_str()?);
        self.ask(os, &["show", "--no-textconv", &name]).ok()
    }

    /// What is not as committed, in the project.
    ///
    /// # Errors
    /// In words.
    pub fn dirty(&self, os: &mut impl Os) -> Result<Dirty, String> {
        self.status(os).map(|status| status.dirty)
    }

    /// What a person may have forgotten and should know before rounds change the project: a line each.
    pub fn standing(&self, os: &mut impl Os) -> Vec<String> {
        let mut lines = Vec::new();
        let on_branch = self.ask(os, &["symbolic-ref", "--quiet", "HEAD"]).is_ok();
        if let Some(head) = self.head(os).filter(|_| !on_branch) {
            let head = head.get(..12).unwrap_or(&head);
            lines.push(format!(
                "HEAD is detached at {head}: what is committed here is on no branch; `git switch -c NAME` makes one"
            ));
        }
        let own = self.ask(os, &["rev-parse", "--absolute-git-dir"]).map(|own| path_of(without_end(&own)));
        let is_there = |os: &mut _, path: &Path| match Os::read(os, path, 1) {
            Ok(_) => true,
            // a folder cannot be read, and is there
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        };
        let under_way = own.ok().and_then(|own| UNDER_WAY.iter().find(|(name, _)| is_there(os, &own.join(name))));
        if let Some((_, what)) = under_way {
            lines.push(format!("{what} is under way in this repository: finish or abort it, or its changes and those of rounds are mixed up"));
        }
        let modules = self.status(os).map(|status| status.modules).unwrap_or_default();
        if !modules.is_empty() {
            lines.push(format!(
                "changed and not committed within a submodule, and so in no commit here: {}",
                shown(&modules)
            ));
        }
        lines
    }

    fn status(&self, os: &mut impl Os) -> Result<Status, String> {
        if self.top.is_none() {
            return Err("the project is in no git repository".to_owned());
        }
        let words = [
            "status",
            "--porcelain=v2",
            "-z",
            "--untracked-files=all",
            "--no-renames",
            "--ignore-submodules=none",
            "--",
            ".",
        ];
        let bytes = self.ask(os, &words)?;
        let mut status = Status::default();
        bytes.split(|byte| *byte == 0).for_each(|entry| status.take(entry));
        // what flyball keeps is nobody's change
        status.dirty.paths.retain(|path| !path.iter().any(|name| name == super::folder::NAME));
        Ok(status)
    }

    /// Makes a branch from where HEAD is and goes onto it; where it is on it already, nothing.
    ///
    /// # Errors
    /// In words.
    pub fn branch(&self, os: &mut impl Os, name: &str) -> Result<(), String> {
        let present = self.ask(os, &["symbolic-ref", "--quiet", "--short", "HEAD"]).ok();
        if present.as_deref().and_then(text).as_deref() == Some(name) {
            return Ok(());
        }
        self.ask(os, &["check-ref-format", "--branch", name])
            .map_err(|_| format!("`{name}` is no name of a branch"))?;
        let call = Call {
            words: vec!["checkout", "--quiet", "-b", name],
            folder: &self.project,
            set: Vec::new(),
            stdin: Vec::new(),
            keep: Keep::Both(KEPT),
        };
        self.call(os, call).map(drop)
    }

    /// Commits what a round changed: what is not as committed now and was before it, that is, is not in `before`.
    ///
    /// # Errors
    /// In words; the project's files are as they were.
    pub fn commit(&self, os: &mut impl Os, before: &Dirty, message: &str) -> Result<Committed, String> {
        let top = self.top.as_ref().ok_or("the project is in no git repository")?;
        let Status { dirty: now, unknown, modules } = self.status(os)?;
        let own: Vec<&PathBuf> = now.paths.difference(&before.paths).collect();
        let others = now.paths.intersection(&before.paths).cloned().collect();
        let nested = now.nested.difference(&before.nested).cloned().collect();
        let notes = [
            (others, "they were not as committed before the round"),
            (nested, "they are repositories of their own"),
            (modules, "their changes are not committed within these submodules"),
        ];
        let notes = notes.into_iter().filter(|(paths, _): &(BTreeSet<_>, _)| !paths.is_empty());
        let notes = notes.map(|(paths, why)| format!("not committed, because {why}: {}", shown(&paths))).collect();
        if own.is_empty() {
            return Ok(Committed { id: None, paths: 0, notes });
        }
        let list = list_of(own.iter().copied());
        let author = self.author(os);
        let literal = |author: &[(String, String)]| {
            let mut set = author.to_vec();
            set.push(("GIT_LITERAL_PATHSPECS".to_owned(), "1".to_owned()));
            set
        };
        let from = ["--pathspec-from-file=-", "--pathspec-file-nul"];
        // a commit of named files takes those that git does not know only once it has heard of them
        let add = ["add", "--intent-to-add", "--ignore-removal", from[0], from[1]];
        let made = list_of(own.iter().copied().filter(|path| unknown.contains(*path)));
        if !made.is_empty() {
            self.call(
                os,
                Call { words: add.to_vec(), folder: top, set: literal(&[]), stdin: made, keep: Keep::Both(KEPT) },
            )?;
        }
        let words = vec!["commit", "--quiet", "--only", "--no-verify", "--message", message, from[0], from[1]];
        self.call(os, Call { words, folder: top, set: literal(&author), stdin: list, keep: Keep::Both(KEPT) })?;
        Ok(Committed { id: self.head(os), paths: own.len(), notes })
    }

    /// Who commits, where git's settings do not say.
    fn author(&self, os: &mut impl Os) -> Vec<(String, String)> {
        let mut set = Vec::new();
        for (key, names, value) in [
            ("user.name", ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"], "flyball"),
            ("user.email", ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"], "flyball@localhost"),
        ] {
            if self.ask(os, &["config", "--get", key]).is_err() {
                set.extend(names.map(|name| (name.to_owned(), value.to_owned())));
            }
        }
        set
    }

    /// Keeps the project as it is now, for [`diff`](Self::diff). `tree` tells which files are too large, `left_out` what is no content.
    ///
    /// # Errors
    /// In words.
    pub fn snapshot(
        &self,
        os: &mut impl Os,
        tree: &Tree,
        left_out: &[PathBuf],
        ignored: &[String],
    ) -> Result<Snapshot, String> {
        if !self.there {
            return Err("git cannot be started".to_owned());
        }
        self.prepare(os)?;
        let mut list = b".\0".to_vec();
        let mut leave_out = |magic: &str, path: &[u8]| {
            list.extend_from_slice(format!(":(exclude,{magic})").as_bytes());
            list.extend_from_slice(path);
            list.push(0);
        };
        let large = |kind: &Kind| match kind {
            Kind::File { bytes, .. } => *bytes > LARGEST,
            Kind::Large(_) | Kind::Unreadable | Kind::Other => true,
            Kind::Link(_) => false,
        };
        let out = tree.entries.iter().filter(|(_, entry)| large(&entry.kind)).map(|(path, _)| path);
        for path in out.chain(left_out).filter(|path| !path.as_os_str().is_empty()) {
            leave_out("literal", path.as_os_str().as_encoded_bytes());
        }
        for name in ignored {
            leave_out("glob", format!("**/{name}/**").as_bytes());
        }
        let words = vec!["add", "--all", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul"];
        let call = Call { words, folder: &self.project, set: self.own(), stdin: list, keep: Keep::Both(KEPT) };
        // a file that vanishes meanwhile is no reason to lose the others
        let added = self.call(os, call);
        let call = Call {
            words: vec!["write-tree"],
            folder: &self.project,
            set: self.own(),
            stdin: Vec::new(),
            keep: Keep::Stdout(KEPT),
        };
        let name = self.call(os, call).ok().as_deref().and_then(text);
        name.map(Snapshot)
            .ok_or_else(|| added.err().unwrap_or_else(|| "git keeps no snapshot of the project".to_owned()))
    }

    /// What changed between two snapshots, as a patch of so many bytes at most.
    ///
    /// # Errors
    /// In words.
    pub fn diff(&self, os: &mut impl Os, before: &Snapshot, after: &Snapshot, most: usize) -> Result<Vec<u8>, String> {
        if before == after {
            return Ok(Vec::new());
        }
        let words = vec![
            "diff-tree",
            "-r",
            "-p",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--no-renames",
            &before.0,
            &after.0,
        ];
        let call = Call { words, folder: &self.project, set: self.own(), stdin: Vec::new(), keep: Keep::Stdout(most) };
        self.call(os, call)
    }

    /// The folder of flyball's own repository.
    fn store(&self) -> PathBuf {
        self.record.join("git")
    }

    /// What points git at flyball's own repository.
    fn own(&self) -> Vec<(String, String)> {
        let path = |path: &Path| path.display().to_string();
        vec![
            ("GIT_DIR".to_owned(), path(&self.store())),
            ("GIT_WORK_TREE".to_owned(), path(&self.project)),
            // the person's settings may name filters, which are programs
            ("GIT_CONFIG_GLOBAL".to_owned(), "/dev/null".to_owned()),
            ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
            ("GIT_ATTR_NOSYSTEM".to_owned(), "1".to_owned()),
        ]
    }

    /// Makes flyball's own repository, where it is not there yet, and borrows the objects and the ignored names of the project's.
    fn prepare(&self, os: &mut impl Os) -> Result<(), String> {
        if os.read(&self.store().join("HEAD"), 1).is_ok() {
            return Ok(());
        }
        let format = self.top.as_ref().and_then(|_| text(&self.ask(os, &["rev-parse", "--show-object-format"]).ok()?));
        let format = format!("--object-format={}", format.as_deref().unwrap_or("sha1"));
        let call = Call {
            words: vec!["init", "--quiet", "--template=", &format],
            folder: &self.project,
            set: self.own(),
            stdin: Vec::new(),
            keep: Keep::Both(KEPT),
        };
        self.call(os, call)?;
        if self.top.is_some() {
            for (there, here) in [("objects", "objects/info/alternates"), ("info/exclude", "info/exclude")] {
                let Ok(found) = self.ask(os, &["rev-parse", "--path-format=absolute", "--git-path", there]) else {
                    continue;
                };
                let found = without_end(&found).to_vec();
                let bytes = if there == "objects" {
                    [&found[..], b"\n"].concat()
                } else {
                    os.read(&path_of(&found), 1 << 20).unwrap_or_default()
                };
                os.replace(&format!("git/{here}"), &bytes)
                    .map_err(|error| format!("{}: {error}", self.store().display()))?;
            }
        }
        Ok(())
    }

    /// Asks git in the project's folder.
    fn ask(&self, os: &mut impl Os, words: &[&str]) -> Result<Vec<u8>, String> {
        let call = Call {
            words: words.to_vec(),
            folder: &self.project,
            set: Vec::new(),
            stdin: Vec::new(),
            keep: Keep::Stdout(KEPT),
        };
        self.call(os, call)
    }

    fn call(&self, os: &mut impl Os, call: Call<'_>) -> Result<Vec<u8>, String> {
        let Call { words, folder, set, stdin, keep } = call;
        let mut argv = vec!["git".to_owned(), "--no-pager".to_owned()];
        argv.extend(SET.iter().flat_map(|set| ["-c".to_owned(), (*set).to_owned()]));
        argv.extend(words.iter().map(|&word| word.to_owned()));
        let place = Place { project: folder.to_owned(), record: self.record.clone(), round: 0 };
        let mut launch = place.launch(argv);
        let fixed = [
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_EDITOR", "true"),
            ("GIT_PAGER", "cat"),
            ("GIT_ASKPASS", "true"),
            ("SSH_ASKPASS", "true"),
            ("LC_ALL", "C"),
        ];
        launch.set.extend(fixed.map(|(name, value)| (name.to_owned(), value.to_owned())));
        launch.unset = UNSET.map(str::to_owned).to_vec();
        launch.unset.retain(|name| !set.iter().any(|(set, _)| set == name));
        launch.set.extend(set);
        launch.stdin = stdin;
        let checked: Checked = os.check(&launch, LIMIT, keep);
        let what = words.first().copied().unwrap_or("");
        match checked.end {
            CheckEnd::Exited(0) => Ok(checked.output),
            CheckEnd::Exited(code) => Err(format!(
                "git {what}: {}",
                complaint(&checked.output).unwrap_or_else(|| format!("it ended with {code}"))
            )),
            CheckEnd::NotStarted(why) => Err(why),
            CheckEnd::Signalled(signal) => Err(format!("git {what} was ended by signal {signal}")),
            CheckEnd::TimedOut => Err(format!("git {what} took longer than {} s", LIMIT.count() / 1000)),
            CheckEnd::GivenUp => Err(format!("git {what} was given up: somebody asked the runner to stop")),
        }
    }
}

/// What changed by name, size and hash: where git has no patch of it. `patch` is what it has.
#[must_use]
pub fn by_name(before: &Tree, after: &Tree, patch: &[u8]) -> String {
    let (mut text, in_patch) = (String::new(), names(patch));
    for change in after.changes(before) {
        if in_patch.contains(change.path.as_os_str().as_encoded_bytes()) {
            continue;
        }
        let name = change.path.display().to_string();
        let (sign, tree) = match change.how {
            How::Added => ('A', after),
            How::Changed => ('M', after),
            How::Removed => ('D', before),
        };
        let what = tree.entries.get(&change.path).map(|entry| match &entry.kind {
            Kind::File { hash, bytes, .. } => format!("{} sha256 {}", counted(*bytes, "byte"), hex(hash)),
            Kind::Large(stamp) => format!("{}, not read", counted(stamp.bytes, "byte")),
            Kind::Link(to) => format!("link to {}", to.display()),
            Kind::Unreadable => "cannot be read".to_owned(),
            Kind::Other => "no file".to_owned(),
        });
        text.push_str(&format!("# {sign} {}: {}\n", name.escape_debug(), what.unwrap_or_default()));
    }
    text
}

/// The paths of a patch without renames: in its lines each stands twice. Those that git puts in quotes are not among them.
fn names(patch: &[u8]) -> BTreeSet<&[u8]> {
    let lines = patch.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"diff --git a/"));
    lines.filter_map(|both| both.get(..both.len().checked_sub(3)? / 2)).collect()
}

/// Paths as git reads a list of them.
fn list_of<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Vec<u8> {
    paths.flat_map(|path| [path.as_os_str().as_encoded_bytes(), b"\0"].concat()).collect()
}

/// Without the end of the line that git adds; a name may end with one of its own.
fn without_end(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b"\n").unwrap_or(bytes)
}

fn text(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(without_end(bytes)).into_owned();
    (!text.is_empty()).then_some(text)
}

/// What git says went wrong.
fn complaint(output: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(output);
    let told = text.lines().find(|line| line.starts_with("fatal: ") || line.starts_with("error: "));
    told.map(str::to_owned).or_else(|| super::oracle::last_line(output))
}

/// The first few of some paths, for people.
fn shown(paths: &BTreeSet<PathBuf>) -> String {
    let named = paths.iter().take(5).map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    if paths.len() > 5 { format!("{named} and {} more", paths.len() - 5) } else { named }
}
