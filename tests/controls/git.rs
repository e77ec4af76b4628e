//! What a round changed, and its commit.

use std::collections::BTreeSet;
use std::path::Path;

use flyball::run::Os as _;
use flyball::run::git::{Dirty, Git, Snapshot, by_name};
use flyball::run::tree::{Tree, TreeAsk};

use crate::world::{World, mode};

const MESSAGE: &str = "flyball: round 1";

fn find(world: &mut World) -> Git {
    Git::find(&mut world.os, &world.place)
}

fn repository() -> World {
    let world = World::new();
    world.write("a b.txt", "one\n");
    world.write("mine", "x\n");
    world.write(".gitignore", "ignored\n");
    world.hand("git init -q -b main; printf '.flyball/\\n' >> .git/info/exclude; git add .; git commit -qm first");
    world
}

fn names(world: &World) -> BTreeSet<String> {
    let names = world.hand("git -c core.quotePath=false show --no-renames --name-only --format= -z HEAD");
    names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Everything that git holds of the project but its own reading of it.
fn state(world: &World) -> String {
    world.hand("find .git -type f ! -name '*.sample' | sort | xargs sha256sum; git status --porcelain")
}

fn shot(world: &mut World, git: &Git) -> (Snapshot, Tree) {
    let ask = TreeAsk::project(&world.place.project);
    let tree = world.os.tree(&ask);
    (git.snapshot(&mut world.os, &tree, &ask.left_out, &ask.ignored).unwrap(), tree)
}

/// The patch of what this script changes.
fn patch(world: &mut World, script: &str) -> (String, String) {
    let git = find(world);
    let (before, old) = shot(world, &git);
    world.hand(script);
    let (after, new) = shot(world, &git);
    let patch = git.diff(&mut world.os, &before, &after, 1 << 20).unwrap();
    (String::from_utf8_lossy(&patch).into_owned(), by_name(&old, &new, &patch))
}

#[test]
fn over_broad_staging_sweeps_nobodys_files_in() {
    let mut world = repository();
    world.hand("echo changed >> mine; echo new > mine-too; echo staged > staged; git add staged");
    let git = find(&mut world);
    let before = git.dirty(&mut world.os).unwrap();
    assert_eq!(before, Dirty::from_bytes(&before.to_bytes()));
    assert_eq!((before.len(), before.is_empty()), (3, false));
    world.hand("echo two >> 'a b.txt'; mkdir '\u{fc}'; echo n > '\u{fc}/n\n ew'; echo more >> mine; touch ignored; mkdir .flyball/x; touch .flyball/x/y");
    let made = git.commit(&mut world.os, &before, MESSAGE).unwrap();
    assert_eq!((made.id.clone(), made.paths), (git.head(&mut world.os), 2), "{made:?}");
    assert_eq!(names(&world), set(&["a b.txt", "\u{fc}/n\n ew"]));
    assert!(
        made.notes[0].contains("mine") && made.notes[0].contains("mine-too") && made.notes[0].contains("staged"),
        "{made:?}"
    );
    assert_eq!(world.hand("git status --porcelain"), " M mine\nA  staged\n?? mine-too\n", "what was staged stays so");
    assert_eq!(world.hand("git log -1 --format=%s"), "flyball: round 1\n");
}

#[test]
fn commit_without_add_leaves_nothing_behind() {
    let mut world = repository();
    let git = find(&mut world);
    world.hand("git config user.name somebody; git config user.email s@localhost");
    let before = git.dirty(&mut world.os).unwrap();
    world.hand("git mv 'a b.txt' c; rm mine; ln -s c link; chmod +x c");
    let made = git.commit(&mut world.os, &before, "flyball: round 1, interrupted").unwrap();
    assert_eq!((made.paths, made.notes.len()), (4, 0), "{made:?}");
    assert_eq!(names(&world), set(&["a b.txt", "c", "link", "mine"]));
    assert_eq!(
        world.hand("git status --porcelain; git log -1 --format='%s|%an|%ae'"),
        "flyball: round 1, interrupted|somebody|s@localhost\n"
    );
    let made = git.commit(&mut world.os, &before, MESSAGE).unwrap();
    assert_eq!((made.id, made.paths), (None, 0), "nothing to commit is no commit");
}

#[test]
fn hooks_filters_prompts_and_signing_are_not_run() {
    let mut world = repository();
    for hook in ["pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "post-checkout", "post-index-change"]
    {
        world.script(&format!(".git/hooks/{hook}"), "echo \"$0\" >> ../ran; exit 1");
    }
    world.script("../monitor", "touch ran-monitor");
    world.hand("git config commit.gpgSign true; git config core.pager 'cat > ../ran'; git config core.editor false; git config core.fsmonitor \"$PWD/../monitor\"; git config diff.external false");
    let git = find(&mut world);
    let before = git.dirty(&mut world.os).unwrap();
    git.branch(&mut world.os, "flyball/run").unwrap();
    git.branch(&mut world.os, "flyball/run").unwrap();
    let (patch, _) = patch(&mut world, "echo two >> 'a b.txt'");
    assert!(patch.contains("+two"), "{patch}");
    git.commit(&mut world.os, &before, MESSAGE).unwrap();
    assert_eq!(world.hand("git symbolic-ref HEAD; git rev-list --count main"), "refs/heads/flyball/run\n1\n");
    assert!(!world.path("../ran").exists() && !world.path("ran-monitor").exists());
    for (name, says) in [("a b", "no name of a branch"), ("main", "already exists")] {
        let why = git.branch(&mut world.os, name).unwrap_err();
        assert!(why.contains(says), "{why}");
    }
}

#[test]
fn a_difference_writes_nothing_into_the_repository() {
    let mut world = repository();
    world.hand("git config filter.f.clean 'touch ran; cat'; echo '*.f filter=f' > .gitattributes; git add .; git commit -qm a; echo s > staged; git add staged; echo y >> mine");
    let before = state(&world);
    let heads = world.hand("find .git -newer .git/HEAD -type d | sort");
    let (text, rest) = patch(&mut world, "true");
    assert_eq!((text.as_str(), rest.as_str()), ("", ""));
    assert_eq!((state(&world), world.hand("find .git -newer .git/HEAD -type d | sort")), (before, heads));
    let (text, rest) = patch(
        &mut world,
        "echo two >> 'a b.txt'; echo z > 'n\u{fc}'; rm mine; touch ignored; echo x > x.f; chmod +x .gitignore; ln -s / out; mkdir target; touch target/x",
    );
    for part in [
        "+two",
        "diff --git a/n\u{fc} b/n\u{fc}",
        "deleted file mode 100644",
        "new mode 100755",
        "new file mode 120000",
        "b/x.f",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("target") && !text.contains("staged"), "{text}");
    assert_eq!(
        rest,
        format!("# A ignored: 0 bytes sha256 {}\n", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        "what git ignores is told by name"
    );
    assert!(!world.path("ran").exists(), "no filter is run");
    assert_eq!(world.hand("git diff --cached --name-only"), "staged\n");
}

#[test]
fn a_difference_is_bounded_and_large_files_are_told_by_name() {
    let mut world = repository();
    let git = find(&mut world);
    let (before, old) = shot(&mut world, &git);
    world.hand("yes | head -c 3000000 > many; truncate -s 17000000 large");
    let (after, new) = shot(&mut world, &git);
    let patch = git.diff(&mut world.os, &before, &after, 5000).unwrap();
    let text = String::from_utf8_lossy(&patch).into_owned();
    assert!(text.len() < 5100 && text.contains("bytes are left out here"), "{}", text.len());
    assert!(by_name(&old, &new, &patch).starts_with("# A large: 17000000 bytes sha256 "));
}

#[test]
fn a_project_may_be_a_folder_of_a_repository() {
    let mut world = World::at("top/a \u{fc}", "top/r");
    world.write("in", "1\n");
    world.write("../beside", "1\n");
    world.hand("cd ..; git init -q -b main; git add .; git commit -qm first; echo 2 >> beside; cd - > /dev/null");
    let git = find(&mut world);
    let before = git.dirty(&mut world.os).unwrap();
    assert!(before.is_empty() && git.has_repository());
    assert_eq!(git.committed(&mut world.os, "HEAD", Path::new("in")).unwrap(), b"1\n");
    let (text, rest) = patch(&mut world, "echo 2 >> in; echo 3 >> ../beside; echo n > new");
    assert!(text.contains("diff --git a/in b/in") && !text.contains("beside") && rest.is_empty(), "{text}{rest}");
    let made = git.commit(&mut world.os, &before, MESSAGE).unwrap();
    assert_eq!((made.paths, names(&world)), (2, set(&["a \u{fc}/in", "a \u{fc}/new"])));
}

#[test]
fn a_repository_may_have_no_commit_yet() {
    let mut world = World::new();
    world.hand("git init -q -b main; printf '.flyball/\\n' >> .git/info/exclude; echo 1 > mine");
    let git = find(&mut world);
    assert_eq!((git.has_repository(), git.head(&mut world.os)), (true, None));
    let before = git.dirty(&mut world.os).unwrap();
    let (text, _) = patch(&mut world, "echo 2 > own");
    assert!(text.contains("+2"), "{text}");
    let made = git.commit(&mut world.os, &before, MESSAGE).unwrap();
    assert_eq!((made.id, names(&world)), (git.head(&mut world.os), set(&["own"])));
    assert_eq!(world.hand("git status --porcelain"), "?? mine\n");
}

#[test]
fn git_assumed_nested_repositories_are_left_alone_and_told_by_name() {
    let mut world = repository();
    world.hand("git init -q -b main inner; cd inner; echo 1 > f; git add f; git commit -qm inner");
    let git = find(&mut world);
    let before = git.dirty(&mut world.os).unwrap();
    assert_eq!(before, Dirty::from_bytes(&before.to_bytes()));
    world.hand("cp -a inner other");
    let (text, rest) = patch(&mut world, "echo 2 >> inner/f; echo two >> 'a b.txt'");
    assert!(text.contains("+two"), "{text}");
    assert!(rest.starts_with("# M inner/f: 4 bytes sha256 "), "{rest}");
    let made = git.commit(&mut world.os, &before, MESSAGE).unwrap();
    assert!(made.notes.iter().any(|note| note.ends_with("repositories of their own: other")), "{made:?}");
    assert_eq!(names(&world), set(&["a b.txt"]));
}

#[test]
fn git_assumed_without_a_repository_there_is_a_patch_and_no_commit() {
    let mut world = World::new();
    world.write("a", "1\n");
    let git = find(&mut world);
    assert_eq!((git.is_there(), git.has_repository(), git.head(&mut world.os)), (true, false, None));
    let (text, rest) = patch(&mut world, "echo 2 >> a; touch '\n'");
    assert!(text.contains("+2"), "{text}");
    assert!(rest.starts_with("# A \\n: 0 bytes") || rest.is_empty(), "{rest}");
    assert!(git.dirty(&mut world.os).unwrap_err().contains("no git repository"));
    assert!(git.commit(&mut world.os, &Dirty::default(), MESSAGE).unwrap_err().contains("no git repository"));
}

#[test]
fn without_git_there_are_names() {
    let mut world = World::new();
    world.write("a", "1\n");
    let ask = TreeAsk::project(&world.place.project);
    let before = world.os.tree(&ask);
    world.hand("echo 2 >> a; ln -s a l; rm -f z");
    let after = world.os.tree(&ask);
    let text = by_name(&before, &after, b"");
    assert!(text.starts_with("# M a: 4 bytes sha256 ") && text.ends_with("# A l: link to a\n"), "{text}");
    assert_eq!(by_name(&before, &before, b""), "");
}

#[test]
fn head_moves_ignored_no_more_and_a_lock_is_said() {
    let mut world = repository();
    let git = find(&mut world);
    let first = git.head(&mut world.os).unwrap();
    world.hand("echo 2 >> mine; git commit -qam agent");
    assert_ne!(git.head(&mut world.os).unwrap(), first);
    let before = git.dirty(&mut world.os).unwrap();
    world.hand("echo 3 >> mine; touch .git/index.lock");
    let why = git.commit(&mut world.os, &before, MESSAGE).unwrap_err();
    assert!(why.starts_with("git "), "{why}");
    assert!(why.contains("index.lock") || why.contains("lock"), "{why}");
    mode(&world.path("mine"), 0o644);
}

#[test]
fn a_commit_has_an_author_also_where_git_knows_nobody() {
    // once more in a process of its own, in which git knows nobody
    if std::env::var("GIT_CONFIG_GLOBAL").is_ok_and(|path| path == "/dev/null") {
        let mut world = repository();
        let git = find(&mut world);
        world.hand("echo 2 >> mine");
        git.commit(&mut world.os, &Dirty::default(), MESSAGE).unwrap();
        assert_eq!(
            world.hand("git log -1 --format='%an|%ae|%cn|%ce'"),
            "flyball|flyball@localhost|flyball|flyball@localhost\n"
        );
        return;
    }
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "git::a_commit_has_an_author_also_where_git_knows_nobody"]);
    child.envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")]);
    for who in ["AUTHOR", "COMMITTER"] {
        child.env_remove(format!("GIT_{who}_NAME")).env_remove(format!("GIT_{who}_EMAIL"));
    }
    let out = child.output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
    assert!(String::from_utf8_lossy(&out.stdout).contains("1 passed"));
}

#[test]
fn what_changed_within_a_submodule_is_named_and_what_it_committed_is_committed() {
    let mut world = repository();
    world.hand("git init -q -b main ../lib; cd ../lib; echo 1 > f; git add f; git commit -qm f; cd - > /dev/null; git -c protocol.file.allow=always submodule --quiet add ../lib 's m'; git commit -qm sub");
    let git = find(&mut world);
    assert_eq!(git.standing(&mut world.os), [""; 0]);
    let before = git.dirty(&mut world.os).unwrap();
    world.hand("echo 2 >> 's m/f'; echo two >> 'a b.txt'");
    let within = "changed and not committed within a submodule, and so in no commit here: s m";
    assert_eq!(git.standing(&mut world.os), [within]);
    let made = git.commit(&mut world.os, &before, MESSAGE).unwrap();
    assert_eq!(names(&world), set(&["a b.txt"]));
    assert_eq!(made.notes, ["not committed, because their changes are not committed within these submodules: s m"]);
    // where nothing else has changed there is nothing to commit, which is no failure
    let made = git.commit(&mut world.os, &before, MESSAGE).unwrap();
    assert_eq!((made.id, made.paths, made.notes.len()), (None, 0, 1));
    world.hand("cd 's m'; git commit -qam inner; echo 3 >> f");
    let made = git.commit(&mut world.os, &before, MESSAGE).unwrap();
    assert_eq!((made.paths, made.notes.len(), names(&world)), (1, 1, set(&["s m"])));
}

#[test]
fn a_head_on_no_branch_and_what_is_under_way_are_told() {
    for (script, what) in [
        ("git checkout -q --detach", "HEAD is detached at "),
        ("git checkout -q side; git merge main || true", "a merge is under way"),
        ("git checkout -q side; git rebase main || true", "a rebase is under way"),
        ("git checkout -q side; git cherry-pick main || true", "a cherry-pick is under way"),
        ("git revert --no-commit HEAD~1 || true; git status > /dev/null", "a revert is under way"),
    ] {
        let mut world = repository();
        world.hand("git checkout -qb side; echo s > mine; git commit -qam s; git checkout -q main; echo m > mine; git commit -qam m; echo n > mine; git commit -qam n");
        let git = find(&mut world);
        assert_eq!(git.standing(&mut world.os), [""; 0]);
        world.hand(&format!("({script}) > /dev/null 2>&1"));
        let told = git.standing(&mut world.os);
        assert!(told.iter().any(|line| line.starts_with(what)), "{script}: {told:?}");
    }
    let mut world = repository();
    world.hand("git worktree add -q --detach ../tree");
    world.place.project = std::fs::canonicalize(world.path("../tree")).unwrap();
    let told = find(&mut world).standing(&mut world.os);
    assert!(told.len() == 1 && told[0].starts_with("HEAD is detached at "), "{told:?}");
}
