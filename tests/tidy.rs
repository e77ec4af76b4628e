//! Tidiness, read from the files: sizes, module pages, and what must not be left lying about.
//!
//! Formatting, the length of functions and the lints are the compiler's to check; this is what it does not look at.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The most lines of a source file, its tests included.
const MOST_LINES: usize = 650;

/// Folders and files of the package that people write.
const WRITTEN: &[&str] = &[
    "src",
    "tests",
    "examples",
    "benches",
    "scenarios",
    "plots",
    ".ci",
    "README.md",
    "CHANGELOG.md",
    "Cargo.toml",
    ".clippy.toml",
    ".gitignore",
];

/// Endings of files that are read as text here; recorded data is left as it was recorded.
const TEXT: &[&str] = &["rs", "md", "toml", "py", "sh", "svg", "json", "csv", ""];

/// Text files of the package by their path from its root, without recorded data.
fn texts() -> BTreeMap<String, String> {
    fn add(root: &Path, path: &str, out: &mut BTreeMap<String, String>) {
        let full = root.join(path);
        if path == "tests/data" {
            return;
        }
        if full.is_dir() {
            for entry in fs::read_dir(&full).expect("the package can be listed") {
                let name = entry.expect("the package can be listed").file_name();
                add(root, &format!("{path}/{}", name.to_str().expect("names are text")), out);
            }
        } else if full.exists() {
            let end = full.extension().and_then(|ext| ext.to_str()).unwrap_or("");
            if TEXT.contains(&end) {
                out.insert(path.into(), fs::read_to_string(&full).unwrap_or_else(|error| panic!("{path}: {error}")));
            }
        }
    }
    let mut out = BTreeMap::new();
    for path in WRITTEN {
        add(Path::new(env!("CARGO_MANIFEST_DIR")), path, &mut out);
    }
    out
}

/// Words that may stand in no file, put together here so that this file may hold them.
fn forbidden() -> Vec<String> {
    [
        ("TO", "DO"),
        ("FIX", "ME"),
        ("XX", "X"),
        ("#[", "allow("),
        ("#![", "allow("),
        ("/wo", "rk/"),
        ("/tm", "p/"),
        ("/ro", "ot/"),
        ("/ho", "me/"),
        ("sha", "red/"),
    ]
    .map(|(head, tail)| format!("{head}{tail}"))
    .into()
}

/// What is wrong with one file.
fn faults(path: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |line: usize, what: &str| faults.push(format!("{path}:{line}: {what}"));
    let (rust, last) = (path.ends_with(".rs"), text.lines().count());
    if !text.is_empty() && (!text.ends_with('\n') || text.ends_with("\n\n")) {
        fault(last, "a file ends with one newline");
    }
    if rust && !text.starts_with("//! ") {
        fault(1, "a source file opens with its page, `//! ...`");
    }
    if rust && last > MOST_LINES {
        fault(last, &format!("a source file has at most {MOST_LINES} lines"));
    }
    let (mut forbidden, drawn) = (forbidden(), path.ends_with(".svg"));
    if path.ends_with(".md") {
        // a gap in a page, to be filled with a figure that was measured
        forbidden.push(["<", "<"].concat());
    }
    for (at, line) in text.lines().enumerate() {
        if line.contains('\t') {
            fault(at + 1, "a tab");
        }
        if line.ends_with(' ') && !drawn {
            fault(at + 1, "a space at the end of the line");
        }
        for word in forbidden.iter().filter(|word| line.contains(word.as_str())) {
            fault(at + 1, &format!("`{word}` may not be left in a file"));
        }
    }
    faults
}

#[test]
fn every_file_is_tidy() {
    let texts = texts();
    let faults: Vec<String> = texts.iter().flat_map(|(path, text)| faults(path, text)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(texts.len() > 80, "only {} files were looked at", texts.len());
    for must in ["src/lib.rs", "tests/tidy.rs", "README.md", ".ci/run", "scenarios/s01-quiet.toml"] {
        assert!(texts.contains_key(must), "{must} was not looked at");
    }
}

#[test]
fn an_untidy_file_is_found() {
    let count = |path: &str, text: &str| faults(path, text).len();
    assert_eq!(count("src/a.rs", "//! A page.\nfn f() {}\n"), 0);
    assert_eq!(count("src/a.rs", "fn f() {}\n"), 1);
    assert_eq!(count("a.md", "no newline"), 1);
    assert_eq!(count("a.md", "too many\n\n"), 1);
    assert_eq!(count("a.md", "a\ttab\n"), 1);
    assert_eq!(count("a.md", "trailing \n"), 1);
    let long = format!("//! A page.\n{}", "x\n".repeat(MOST_LINES));
    assert_eq!(count("src/a.rs", &long), 1);
    assert_eq!(count("a.md", &long), 0);
    assert_eq!(count("a.md", &["it takes <", "<how long>> s\n"].concat()), 1);
    assert_eq!(count("src/a.rs", "//! A page.\nconst A: u8 = 1 << 3;\n"), 0);
    for word in forbidden() {
        assert!(count("a.md", &format!("text {word}x\n")) > 0, "{word}");
    }
}

#[test]
fn every_decision_and_scenario_is_named_as_the_pages_say() {
    let texts = texts();
    let lib = &texts["src/lib.rs"];
    for path in texts.keys().filter_map(|path| path.strip_prefix("src/decisions/")) {
        assert!(lib.contains(path), "{path} is not compiled into the documentation");
    }
    for (path, text) in &texts {
        let Some(stem) = path.strip_prefix("scenarios/").and_then(|name| name.strip_suffix(".toml")) else { continue };
        assert!(text.contains(&format!("name = \"{stem}\"")), "{path} goes by another name");
    }
}

/// The names of functions that are marked slow in a file.
fn marked_slow(text: &str) -> Vec<&str> {
    let mark = concat!("#[ign", "ore = \"slow");
    let name = |rest: &'_ str| -> Option<(usize, usize)> {
        let from = rest.find("fn ")? + 3;
        Some((from, from + rest[from..].find('(')?))
    };
    text.match_indices(mark)
        .filter_map(|(at, _)| {
            let rest = &text[at..];
            name(rest).map(|(from, to)| &rest[from..to])
        })
        .collect()
}

#[test]
fn the_slow_list_names_every_slow_test() {
    let list =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slow.list")).expect("the slow list");
    let line = |line: &str| {
        let (target, name) = line.split_once(' ').expect("a line is TARGET NAME");
        let name = name.strip_suffix(" hand").unwrap_or(name);
        format!("{target} {}", name.rsplit("::").next().unwrap_or(name))
    };
    let mut listed: Vec<String> = list.lines().filter(|line| !line.starts_with('#')).map(line).collect();
    let mut marked = Vec::new();
    for (path, text) in texts() {
        let target = match path.strip_prefix("tests/") {
            Some(rest) => rest.split(['/', '.']).next().unwrap_or(rest).to_owned(),
            None => "lib".to_owned(),
        };
        if path.ends_with(".rs") {
            marked.extend(marked_slow(&text).iter().map(|name| format!("{target} {name}")));
        }
    }
    listed.sort_unstable();
    marked.sort_unstable();
    assert_eq!(listed, marked, "tests/slow.list against what is marked in the source");
}

#[test]
fn a_slow_test_is_found_by_its_mark() {
    let mark = concat!("#[ign", "ore = \"slow: a minute\"]\n");
    assert_eq!(marked_slow(&format!("#[test]\n{mark}fn long() {{}}\nfn next() {{}}")), ["long"]);
    assert_eq!(marked_slow("#[test]\nfn short() {}"), Vec::<&str>::new());
}

/// Tests that a page names, as `file::test`, in its tables' last columns.
fn named_tests(page: &str) -> Vec<&str> {
    let cells =
        page.lines().filter_map(|line| line.strip_prefix('|')?.trim_end().strip_suffix('|')?.rsplit('|').next());
    let words = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    words.filter(|word| word.split_once("::").is_some_and(|(file, _)| !file.is_empty())).collect()
}

/// Whether a test of this name stands in a file, or below a folder, of that name.
fn has_test(texts: &BTreeMap<String, String>, named: &str) -> bool {
    let Some((file, name)) = named.split_once("::") else { return false };
    let parts = |path: &str| path.trim_end_matches(".rs").split('/').any(|part| part == file);
    let head = format!("fn {name}(");
    texts.iter().filter(|(path, _)| path.ends_with(".rs") && parts(path)).any(|(_, text)| {
        text.match_indices(&head).any(|(at, _)| {
            let before = &text[..at];
            before.rfind("#[test]").is_some_and(|mark| !before[mark..].contains('}'))
        })
    })
}

#[test]
fn every_test_that_the_page_on_controls_names_is_there() {
    let texts = texts();
    let page = &texts["src/CONTROLS.md"];
    let named = named_tests(page);
    let missing: Vec<&&str> = named.iter().filter(|named| !has_test(&texts, named)).collect();
    assert!(missing.is_empty(), "src/CONTROLS.md names tests that are not there: {missing:?}");
    assert!(named.len() > 60, "only {} tests are named", named.len());
}

#[test]
fn a_test_that_is_not_there_is_found() {
    let page = "| a | b | `x::one`, `x::two` |\n| a | `y::three` | — |\n`z::four`\n";
    assert_eq!(named_tests(page), ["x::one", "x::two"]);
    let file = "#[test]\nfn one() {}\n\nfn two() {}\n#[test]\n#[ignore]\nfn three() {}\n";
    let texts = BTreeMap::from([("src/x/mod.rs".to_owned(), file.to_owned())]);
    for (named, there) in [("x::one", true), ("x::two", false), ("x::three", true), ("y::one", false), ("x::on", false)]
    {
        assert_eq!(has_test(&texts, named), there, "{named}");
    }
}

#[cfg(feature = "cli")]
#[test]
fn the_page_on_controls_knows_every_control_and_names_settings_that_are() {
    use flyball::cli::settings::keys::{KEYS, TABLES};
    let page = &texts()["src/CONTROLS.md"];
    for control in flyball::engine::Control::ALL {
        assert!(page.contains(&format!("\n| `{}` |", control.name())), "{control} has no row");
    }
    let words = page.split('`').skip(1).step_by(2);
    let setting = |word: &&str| {
        let table = word.split('.').next().unwrap_or_default();
        word.contains('.') && TABLES.iter().any(|(known, _)| *known == table) && !word.contains("::")
    };
    let said: Vec<&str> = words.filter(setting).collect();
    let is_key = |word: &&&str| !KEYS.iter().any(|key| key.full() == word.split(' ').next().unwrap_or_default());
    let unknown: Vec<&&str> =
        said.iter().filter(is_key).filter(|word| !word.ends_with(".log") && !word.ends_with(".json")).collect();
    assert!(unknown.is_empty(), "src/CONTROLS.md names settings that are none: {unknown:?}");
    assert!(said.len() > 20, "only {} settings are named", said.len());
}
