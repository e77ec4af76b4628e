//! The content of a project.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flyball::run::Os as _;
use flyball::run::os::Put;
use flyball::run::tree::{Bounds, How, Kind, Tree, TreeAsk};

use crate::world::{World, mode};

fn tree(world: &mut World) -> Tree {
    let ask = TreeAsk::project(&world.place.project);
    world.os.tree(&ask)
}

fn filled() -> World {
    let world = World::new();
    world.write("a.txt", "one");
    world.write("b/c d.txt", "two");
    std::os::unix::fs::symlink("a.txt", world.path("link")).unwrap();
    world
}

#[test]
fn content_counts_and_nothing_else() {
    let mut world = filled();
    let first = tree(&mut world);
    assert_eq!(first.entries.len(), 3, "{first:?}");
    assert_eq!(first.notes, Vec::<String>::new());
    // rewritten, touched, an empty folder, what builds and caches and flyball keep
    world.write("a.txt", "one");
    world.hand("touch -d '2001-01-01' 'b/c d.txt'; mkdir empty; chmod 600 a.txt");
    for ignored in ["target/x", "b/node_modules/y", ".git/z", ".flyball/runs/1/w", "b/__pycache__/v", ".venv/u"] {
        world.write(ignored, "noise");
    }
    assert_eq!(tree(&mut world).fingerprint(), first.fingerprint());
    let mut seen = vec![first.fingerprint()];
    for script in [
        "echo > a.txt",
        "chmod +x a.txt",
        "ln -sfn b link",
        "mv b/c* b/e",
        "rm b/e",
        "touch new",
        "rm link; echo b > link",
    ] {
        world.hand(script);
        let now = tree(&mut world).fingerprint();
        assert!(!seen.contains(&now), "{script}");
        seen.push(now);
    }
    assert_eq!(first.fingerprint().len(), 64);
}

#[test]
fn what_changed_is_told_by_path() {
    let mut world = filled();
    let before = tree(&mut world);
    world.hand("echo x > a.txt; rm link; touch z");
    let changes = tree(&mut world).changes(&before);
    let told: Vec<_> = changes.iter().map(|change| (change.path.to_str().unwrap(), change.how)).collect();
    assert_eq!(told, [("a.txt", How::Changed), ("link", How::Removed), ("z", How::Added)]);
}

#[test]
fn links_are_not_followed_and_those_that_lead_out_are_said() {
    let mut world = filled();
    world.hand("ln -s / out; ln -s ../../no-such gone; ln -s b in; ln -s loop loop; mkfifo pipe; echo x > ../secret; ln -s ../secret s");
    let tree = tree(&mut world);
    assert_eq!(tree.entries.len(), 9, "{tree:?}");
    let [note] = &tree.notes[..] else { panic!("{:?}", tree.notes) };
    assert!(note.contains("lead out") && note.ends_with("gone, out, s"), "{note}");
    assert_eq!(tree.entries[Path::new("pipe")].kind, Kind::Other);
}

#[test]
fn paths_left_out_bounds_and_names_that_are_no_text() {
    let mut world = filled();
    let odd = PathBuf::from(OsStr::from_bytes(b"\xff\n x"));
    fs::write(world.place.project.join(&odd), "odd").unwrap();
    let whole = tree(&mut world);
    assert!(matches!(whole.entries[&odd].kind, Kind::File { bytes: 3, .. }));
    let mut ask = TreeAsk::project(&world.place.project);
    ask.left_out = vec!["a.txt".into(), "b".into()];
    let part = world.os.tree(&ask);
    assert_eq!(part.entries.keys().collect::<Vec<_>>(), [Path::new("link"), &odd]);
    ask.left_out.clear();
    ask.bounds = Bounds { files: 2, bytes: 4 };
    let part = world.os.tree(&ask);
    assert_eq!(part.entries.len(), 2);
    assert!(matches!(part.entries[Path::new("b/c d.txt")].kind, Kind::Large(_)));
    assert!(part.notes.iter().any(|note| note.contains("more than 2 files")), "{:?}", part.notes);
    assert!(
        part.notes.iter().any(|note| note.contains("first 4 bytes") && note.contains("c d.txt")),
        "{:?}",
        part.notes
    );
    let ask = TreeAsk::project(&world.path("no-such"));
    assert!(world.os.tree(&ask).notes[0].contains("cannot be read"));
}

#[test]
fn a_file_is_read_again_unless_the_system_vouches_for_it() {
    let mut world = filled();
    let mut before = tree(&mut world);
    let entry = before.entries.get_mut(Path::new("a.txt")).unwrap();
    let Kind::File { hash, .. } = &mut entry.kind else { panic!("a file") };
    *hash = [7; 32];
    let again = |world: &mut World, before: &Tree| {
        let ask = TreeAsk { before: Some(Arc::new(before.clone())), ..TreeAsk::project(&world.place.project) };
        matches!(world.os.tree(&ask).entries[Path::new("a.txt")].kind, Kind::File { hash, .. } if hash != [7; 32])
    };
    assert!(again(&mut world, &before), "it was new when it was read");
    before.taken_secs += 60;
    assert!(!again(&mut world, &before), "it is long as it is");
    // the same size, and every time that a program can set
    world.hand("touch -r a.txt keep; echo -n two > a.txt; touch -r keep a.txt");
    assert!(again(&mut world, &before));
}

#[test]
fn what_is_put_replaces_whatever_stands_there_and_follows_nothing() {
    let mut world = filled();
    world.hand("mkdir ../out; echo kept > ../out/x; ln -s ../out d; mkdir -p e/f; touch e/f/g; ln -s ../out/x h");
    let root = world.place.project.clone();
    let mut put = |path: &str, put: Put<'_>| world.os.put(&root, Path::new(path), put);
    put("d/x", Put::File(b"mine", 0o755)).unwrap();
    put("e/f", Put::File(b"file", 0o600)).unwrap();
    put("h", Put::File(b"file", 0o600)).unwrap();
    put("i/j/k", Put::Link(Path::new("to"))).unwrap();
    put("a.txt", Put::Nothing).unwrap();
    put("a.txt", Put::Nothing).unwrap();
    put("no/such", Put::Nothing).unwrap();
    for outside in ["../x", "/x", "a/../../x", "."] {
        assert!(put(outside, Put::Nothing).is_err(), "{outside}");
    }
    assert_eq!(
        world.hand("cat ../out/x d/x e/f h; readlink i/j/k; ls; stat -c %a d/x e/f"),
        "kept\nminefilefileto\nb\nd\ne\nh\ni\nlink\n755\n600\n"
    );
    mode(&world.path("h"), 0o644);
    assert!(
        world.os.can_write(&root) && world.os.can_write(&root.join("h")) && !world.os.can_write(&root.join("no-such"))
    );
    assert_eq!(world.os.read(&root.join("h"), 2).unwrap(), b"fi");
    for no_file in ["link", "e", "no-such"] {
        assert!(world.os.read(&root.join(no_file), 2).is_err(), "{no_file}");
    }
}
