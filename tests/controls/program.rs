//! A program that is run to its end.

use flyball::engine::Millis;
use flyball::run::Os as _;
use flyball::run::os::{Asked, CheckEnd, Heard, Keep, Launch};

use crate::world::{LONG, World, argv, lives};

const ALL: Keep = Keep::Both(1 << 20);

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn it_ends_by_itself_with_what_it_printed_in_order() {
    let mut world = World::new();
    let came = world.sh("echo one; echo two >&2; echo three; exit 3", LONG, ALL);
    assert_eq!((came.end, text(&came.output), came.cut), (CheckEnd::Exited(3), "one\ntwo\nthree\n".to_owned(), false));
    let came = world.sh("echo one; echo two >&2", LONG, Keep::Stdout(100));
    assert_eq!((came.end, text(&came.output)), (CheckEnd::Exited(0), "one\n".to_owned()));
    let came = world.sh("kill -9 $$", LONG, ALL);
    assert_eq!(came.end, CheckEnd::Signalled(9));
}

#[test]
fn a_flood_is_cut_in_its_middle() {
    let mut world = World::new();
    let came = world.sh("echo first; yes | head -c 20000000; echo last", LONG, Keep::Both(1000));
    let printed = text(&came.output);
    assert!(came.cut && printed.starts_with("first\ny\n") && printed.ends_with("y\nlast\n"), "{printed}");
    assert!(printed.contains("[19999011 bytes are left out here]") && printed.len() < 1100, "{printed}");
}

#[test]
fn one_that_takes_too_long_is_ended_also_where_it_is_deaf() {
    let mut world = World::new();
    // a limit that is long enough for a shell to begin, on whatever machine
    let limits = (0..8).map(|power| Millis::new(300 << power));
    let polite = "trap 'echo told; exit 0' TERM; echo began; sleep 600 & wait";
    let mut ends =
        limits.map(|limit| world.sh(polite, limit, ALL)).inspect(|came| assert_eq!(came.end, CheckEnd::TimedOut));
    let came = ends.find(|came| came.output.starts_with(b"began")).unwrap();
    assert_eq!(text(&came.output), "began\ntold\n");
    drop(ends);
    let came = world.sh("trap '' TERM; echo $$; while :; do sleep 600; done", Millis::new(300), ALL);
    assert_eq!(came.end, CheckEnd::TimedOut);
    assert!(!lives(text(&came.output).trim()));
}

#[test]
fn one_that_cannot_be_started_says_why() {
    let mut world = World::new();
    let mut launch = Launch { folder: world.place.project.clone(), argv: argv(&["./no-such"]), ..Launch::default() };
    let CheckEnd::NotStarted(why) = world.os.check(&launch, LONG, ALL).end else { panic!("it was started") };
    assert!(why.contains("./no-such") && why.contains("No such file"), "{why}");
    launch.folder = world.path("gone");
    let CheckEnd::NotStarted(why) = world.os.check(&launch, LONG, ALL).end else { panic!("it was started") };
    assert!(why.contains("there is no folder"), "{why}");
    launch.argv.clear();
    assert!(matches!(world.os.check(&launch, LONG, ALL).end, CheckEnd::NotStarted(_)));
}

#[test]
fn inherited_pipe_delays_nothing_and_nobody_is_left() {
    let mut world = World::new();
    let came = world.sh("sleep 600 & echo $!", LONG, ALL);
    assert_eq!(came.end, CheckEnd::Exited(0));
    assert!(!lives(text(&came.output).trim()));
    let came =
        world.sh("setsid sh -c 'echo $$ > pid; sleep 600' & until [ -s pid ]; do sleep 0.01; done; cat pid", LONG, ALL);
    assert_eq!(came.end, CheckEnd::Exited(0));
    let pid = text(&came.output).trim().to_owned();
    assert!(!pid.is_empty() && !lives(&pid), "{pid}");
}

#[test]
fn somebody_who_asks_for_a_stop_is_heard_at_once_and_is_told_on() {
    let mut world = World::new();
    let came = world.sh("echo $$; kill -TERM $PPID; sleep 600", LONG, ALL);
    assert_eq!(came.end, CheckEnd::GivenUp);
    assert!(!lives(text(&came.output).trim()));
    let came = world.sh("echo began", LONG, ALL);
    assert_eq!((came.end, came.output), (CheckEnd::GivenUp, Vec::new()), "as long as nobody has taken notice");
    assert_eq!(world.os.receive(None), Heard::Asked(Asked::Term));
    assert_eq!(world.sh("exit 0", LONG, ALL).end, CheckEnd::Exited(0));
}

#[test]
fn what_it_reads_is_given_to_the_end_and_need_not_be_read() {
    let mut world = World::new();
    let launch = |script: &str, world: &World| Launch {
        folder: world.place.project.clone(),
        argv: argv(&["/bin/sh", "-c", script]),
        stdin: b"x\n".repeat(500_000),
        set: vec![("A".to_owned(), "b c".to_owned())],
        ..Launch::default()
    };
    let reads = launch("wc -l; echo \"$A\"", &world);
    let came = world.os.check(&reads, LONG, ALL);
    assert_eq!(text(&came.output).split_whitespace().collect::<Vec<_>>(), ["500000", "b", "c"]);
    let deaf = launch("exit 4", &world);
    assert_eq!(world.os.check(&deaf, LONG, ALL).end, CheckEnd::Exited(4));
}
