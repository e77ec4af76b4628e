//! How oracles and check lists are written.

use super::list::CheckList;
use super::words::command_line;
use super::*;

fn shown(oracle: &Oracle) -> String {
    let of = |parts: &[Oracle]| parts.iter().map(shown).collect::<Vec<_>>().join(" | ");
    match oracle {
        Oracle::Command(argv) => format!("{argv:?}"),
        Oracle::Pattern { file, pattern } => format!("{} ~ {pattern}", file.display()),
        Oracle::Judge(rubric) => format!("judge {}", rubric.display()),
        Oracle::All(parts) => format!("all<{}>", of(parts)),
        Oracle::Any(parts) => format!("any<{}>", of(parts)),
    }
}

#[test]
fn oracles_are_read_as_they_are_written() {
    for (text, means) in [
        ("cli:cargo test --all", r#"["cargo", "test", "--all"]"#),
        ("cargo test -p a:b", r#"["cargo", "test", "-p", "a:b"]"#),
        (" ./check.sh ", r#"["./check.sh"]"#),
        (r#"cli:sh -c 'a && b' "c \" d" e\ f ''"#, r#"["sh", "-c", "a && b", "c \" d", "e f", ""]"#),
        ("python:./a b.py", r#"["python3", "./a b.py"]"#),
        ("judge:rubric.md", "judge rubric.md"),
        ("regex:./out.log:^(DONE|a:b)$", "./out.log ~ ^(DONE|a:b)$"),
        ("all(cli:a b; any(c; regex:f:(x)))", r#"all<["a", "b"] | any<["c"] | f ~ (x)>>"#),
        (r#"all('regex:f:a;b[)]'; sh -c "x; y")"#, r#"all<f ~ a;b[)] | ["sh", "-c", "x; y"]>"#),
        ("any(a)", r#"any<["a"]>"#),
    ] {
        let oracle = Oracle::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!(shown(&oracle), means, "{text}");
    }
}

#[test]
fn what_means_nothing_is_refused_in_words() {
    let deep = format!("{}a{}", "all(".repeat(20), ")".repeat(20));
    for (text, says) in [
        ("", "no program"),
        ("cli:", "no program"),
        ("cli:''", "no program"),
        ("regx:a:b", "no oracle of the type `regx`"),
        ("regex:a", "regex:FILE:PATTERN"),
        ("regex:a:", "empty"),
        ("regex::x", "no file"),
        ("regex:a:x*", "any text"),
        ("regex:a:(", "no pattern"),
        ("python: ", "no file"),
        ("judge:", "no file"),
        ("cli:a 'b", "not closed"),
        ("cli:make && make test", "no shell"),
        ("all()", "no parts"),
        ("all(a; it's)", "not closed"),
        ("all(a; (b)", "not closed"),
        ("all(a); b)", "not opened"),
        (&deep, "as deep as it goes"),
    ] {
        let why = Oracle::parse(text).unwrap_err();
        assert!(why.contains(says), "{text}: {why}");
    }
}

#[test]
fn files_that_decide_are_named() {
    let oracle = Oracle::parse("all(./check.sh -x; python:a/b c; judge:r.md; sh test.sh; cargo test)").unwrap();
    let files: Vec<String> = oracle.files().iter().map(|file| file.display().to_string()).collect();
    assert_eq!(files, ["./check.sh", "a/b c", "r.md", "test.sh"]);
    assert_eq!(oracle.rubrics(), [Path::new("r.md")]);
    assert!(Oracle::parse("a").unwrap().rubrics().is_empty());
    assert!(Oracle::all(Vec::new()).is_none());
    assert!(matches!(Oracle::all(vec![oracle.clone()]), Some(Oracle::All(parts)) if parts.len() == 5));
    assert!(matches!(Oracle::all(vec![oracle.clone(), oracle]), Some(Oracle::All(parts)) if parts.len() == 2));
}

#[test]
fn words_are_split_without_a_shell() {
    assert_eq!(command_line("a  '\\' \"\\\\ \\n\" b'c'd").unwrap(), ["a", "\\", "\\ \\n", "bcd"]);
    assert_eq!(command_line("echo '&&' $HOME `x`").unwrap(), ["echo", "&&", "$HOME", "`x`"]);
}

#[test]
fn check_lists_are_read_with_their_limits() {
    let list = CheckList::parse(
        "\u{FEFF}[[check]]\r\nname = \"a\"\r\ncommand = \"x 'y z'\"\r\ntimeout = \"5m\"\r\n\r\n[[check]]\r\nname = \"b\"\r\nargv = [\"w\"]\r\ntask = \"do\"\r\ntimeout = 7\r\n",
    );
    let list = list.unwrap();
    let [a, b] = list.checks() else { panic!("{list:?}") };
    assert_eq!(
        (a.argv.join("|"), a.limit, a.asks_for()),
        ("x|y z".to_owned(), Some(Millis::from_secs(300)), "Make the check `a` pass: x y z".to_owned())
    );
    assert_eq!(
        (b.argv.join("|"), b.limit, b.asks_for()),
        ("w".to_owned(), Some(Millis::from_secs(7)), "do".to_owned())
    );
    let one = "[[check]]\nname = \"a\"\n";
    for (text, says) in [
        ("", "no check"),
        (one, "either `command` or `argv`"),
        (&format!("{one}argv = []"), "empty argv"),
        (&format!("{one}argv = [\"x\"]\ncommand = \"x\""), "either"),
        (&format!("{one}command = \"x | y\""), "the check `a`: no shell"),
        (&format!("{one}command = \"x\"\ntimeout = 0"), "no time limit"),
        (&format!("{one}command = \"x\"\ntimeout = \"9d\""), "no time limit"),
        (&format!("{one}command = \"x\"\ntimeout = \"99999999999999999999h\""), "no time limit"),
        (&format!("{one}command = \"x\"\n{one}command = \"y\""), "two checks"),
        (&format!("{one}comand = \"x\""), "comand"),
        ("\n[[check]]\nname = \"\"\ncommand = \"x\"", "line 3: the check has an empty name"),
        ("[[check]]\nname = \" \\t\"\ncommand = \"x\"", "line 2: the check has an empty name"),
        ("# x\n\n[[check]]\ncommand = \"x\"\nname = \"a\\nb\"", r#"line 5: the check's name "a\nb" has marks"#),
        ("[[check]]\nname = \"a\\u001b[31m\"\ncommand = \"x\"", "line 2: the check's name"),
        ("[[check]]\nname = \"a\u{202e}b\"\ncommand = \"x\"", "line 2: the check's name"),
    ] {
        let why = CheckList::parse(text).unwrap_err();
        assert!(why.contains(says), "{text}: {why}");
    }
}
