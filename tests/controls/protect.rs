//! Protected files.

use std::path::Path;

use flyball::run::glob::Glob;
use flyball::run::protect::{Found, Protected};

use crate::world::World;

fn globs(patterns: &[&str]) -> Vec<Glob> {
    patterns.iter().map(|pattern| Glob::parse(pattern).unwrap()).collect()
}

/// A project with tests that are protected, and what was there.
fn protected() -> (World, Protected) {
    let mut world = World::new();
    world.write("tests/a.sh", "exit 1");
    world.write("tests/deep/b \u{fc}.sh", "exit 2");
    world.write("src/code", "code");
    world.hand("chmod 755 tests/a.sh; ln -s a.sh tests/link");
    let (protected, notes) = Protected::take(&mut world.os, &world.place, &globs(&["tests/**", "*.toml"])).unwrap();
    assert_eq!(notes, ["no file is protected by `*.toml`: there is none that it is of"]);
    assert_eq!((protected.len(), protected.is_empty()), (3, false));
    (world, protected)
}

/// What an agent does, and what is found of it.
fn found(world: &mut World, protected: &Protected, script: &str) -> Found {
    let before = state(world);
    world.hand(script);
    let found = protected.after(&mut world.os, &world.place);
    if found.lost.is_empty() {
        assert_eq!(state(world), before, "{script}");
        assert!(protected.after(&mut world.os, &world.place).is_clean(), "{script}");
    }
    found
}

fn state(world: &World) -> String {
    world.hand("find tests *.toml 2>/dev/null | sort | while read -r f; do stat -c '%n %F %a' \"$f\"; if [ -f \"$f\" ]; then cat \"$f\"; fi; readlink \"$f\" || true; done")
}

#[test]
fn what_was_done_to_a_protected_file_is_undone() {
    let (mut world, protected) = protected();
    assert!(protected.after(&mut world.os, &world.place).is_clean());
    for (script, says) in [
        ("echo exit 0 > tests/a.sh", "tests/a.sh was changed, and is put back"),
        ("sed -i s/1/0/ tests/a.sh", "tests/a.sh was changed, and is put back"),
        ("rm tests/a.sh", "tests/a.sh was removed, and is put back"),
        ("chmod 644 tests/a.sh", "tests/a.sh was given other permissions, and is put back"),
        ("touch tests/new.sh", "tests/new.sh was made where nothing may be made, and is removed"),
        ("echo > b.toml", "b.toml was made where nothing may be made, and is removed"),
        ("ln -sfn ../src/code tests/link", "tests/link was led elsewhere, and is put back"),
        ("rm tests/link; cp tests/a.sh tests/link", "tests/link was replaced, and is put back"),
        ("ln -sf ../src/code tests/a.sh", "tests/a.sh was replaced by a symbolic link, and is put back"),
        ("rm tests/a.sh; mkfifo tests/a.sh", "tests/a.sh was replaced, and is put back"),
    ] {
        let found = found(&mut world, &protected, script);
        assert_eq!((&found.put_back[..], &found.lost[..]), (&[says.to_owned()][..], &[][..]), "{script}");
    }
    assert_eq!(world.text("src/code"), "code");
}

#[test]
fn a_folder_that_was_swapped_is_put_back_and_nothing_outside_is_touched() {
    let (mut world, protected) = protected();
    let out = found(
        &mut world,
        &protected,
        "cp -a tests ../mine; echo exit 0 > ../mine/a.sh; rm -r tests; ln -s ../mine tests",
    );
    assert_eq!(out.put_back.len(), 4, "{out:?}");
    assert_eq!(out.put_back[0], "tests was made where nothing may be made, and is removed");
    assert!(out.put_back[1..].iter().all(|line| line.ends_with("was removed, and is put back")), "{out:?}");
    assert_eq!(world.text("../mine/a.sh"), "exit 0\n");
    let out = found(&mut world, &protected, "rm -r tests; touch tests");
    assert_eq!(out.put_back.len(), 4, "{out:?}");
    let out = found(&mut world, &protected, "rm tests/a.sh; mkdir -p tests/a.sh/x; touch tests/a.sh/x/y");
    assert!(out.lost.is_empty(), "{out:?}");
}

#[test]
fn a_copy_that_was_changed_too_is_not_used() {
    let (mut world, protected) = protected();
    let script = "echo exit 0 > tests/a.sh; for f in .flyball/runs/1/protected/*; do echo exit 0 > \"$f\"; done";
    let found = found(&mut world, &protected, script);
    assert!(found.lost[0].contains("changed too") && found.put_back.is_empty(), "{found:?}");
}

#[test]
fn the_next_process_knows_what_was_protected() {
    let (mut world, protected) = protected();
    let globs = globs(&["tests/**", "*.toml"]);
    let mark = protected.mark().to_owned();
    let again = Protected::reopen(&mut world.os, &world.place, &globs, Some(&mark)).unwrap();
    assert_eq!(again.mark(), mark);
    let out = found(&mut world, &again, "echo exit 0 > tests/a.sh");
    assert_eq!(out.put_back.len(), 1);
    world.hand("sed -i s/755/493/ .flyball/runs/1/protected.json; echo ' ' >> .flyball/runs/1/protected.json");
    let why = Protected::reopen(&mut world.os, &world.place, &globs, Some(&mark)).unwrap_err();
    assert!(why.contains("was changed since flyball wrote it"), "{why}");
    world.hand("rm .flyball/runs/1/protected.json");
    assert!(Protected::reopen(&mut world.os, &world.place, &globs, None).unwrap_err().contains("cannot be read"));
}

#[test]
fn names_that_are_no_text_are_protected_too() {
    use std::os::unix::ffi::OsStrExt as _;
    let mut world = World::new();
    let odd = Path::new(std::ffi::OsStr::from_bytes(b"odd\xff")).to_owned();
    let full = world.place.project.join(&odd);
    std::fs::write(&full, "x").unwrap();
    let (first, _) = Protected::take(&mut world.os, &world.place, &globs(&["odd*"])).unwrap();
    let again = Protected::reopen(&mut world.os, &world.place, &globs(&["odd*"]), Some(first.mark())).unwrap();
    std::fs::remove_file(&full).unwrap();
    assert_eq!(again.after(&mut world.os, &world.place).put_back.len(), 1);
    assert_eq!(std::fs::read(&full).unwrap(), b"x");
}
