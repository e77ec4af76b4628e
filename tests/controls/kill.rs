//! What gives a loop up.

use flyball::engine::Millis;
use flyball::run::kill::{KillOn, Said};

use crate::world::{LONG, World};

fn asked(world: &mut World, text: &str, message: &str, limit: Millis) -> Said {
    KillOn::parse(text).unwrap().ask(&mut world.os, &world.place, message, limit)
}

#[test]
fn a_program_that_ends_with_2_kills_and_nothing_else_does() {
    let mut world = World::new();
    world.script("kill.sh", "cat > heard; echo because; exit \"$1\"");
    let said = asked(&mut world, "cli:./kill.sh 2", "the last word", LONG);
    assert_eq!(said, Said::Kill("`./kill.sh 2` ended with 2: because".to_owned()));
    assert_eq!(world.text("heard"), "the last word");
    assert_eq!(asked(&mut world, "cli:./kill.sh 0", "", LONG), Said::GoOn);
    for (text, says) in [
        ("cli:./kill.sh 1", "ended with 1"),
        ("cli:./kill.sh 127", "127"),
        ("cli:./none", "cannot be started"),
        ("cli:sh -c 'kill -9 $$'", "signal 9"),
    ] {
        let Said::Broken(why) = asked(&mut world, text, "", LONG) else { panic!("{text}") };
        assert!(why.contains(says), "{why}");
    }
    assert!(
        matches!(asked(&mut world, "cli:sleep 600", "", Millis::new(100)), Said::Broken(why) if why.contains("longer than 1 s"))
    );
    world.write("kill.py", "import sys\nsys.exit(2 if 'stuck' in sys.stdin.read() else 0)\n");
    assert!(matches!(asked(&mut world, "python:kill.py", "I am stuck", LONG), Said::Kill(_)));
    assert_eq!(asked(&mut world, "python:kill.py", "fine", LONG), Said::GoOn);
}

#[test]
fn a_pattern_is_looked_for_in_the_last_message_alone() {
    let mut world = World::new();
    let retracted = "I was wrong about the mark. Going on.";
    assert_eq!(asked(&mut world, "regex:^GIVE UP$", retracted, LONG), Said::GoOn);
    assert_eq!(
        asked(&mut world, "regex:^GIVE UP$", "so\r\nGIVE UP\r\nbye", LONG),
        Said::Kill("the agent's last message has `GIVE UP`".to_owned())
    );
    for counted in ["oracle-pass", "no-progress:3", "same-error-repeats:1", "agent-failures:2"] {
        assert_eq!(asked(&mut world, counted, "GIVE UP", LONG), Said::GoOn);
    }
}
