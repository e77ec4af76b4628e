//! Patterns of paths below a folder.
//!
//! | in a pattern | stands for |
//! |---|---|
//! | `*` | any bytes of one name, none too |
//! | `?` | one byte of a name |
//! | `**` as a whole name | any folders, none too |
//!
//! A pattern without `/` is of a name anywhere, `./NAME` of the one in the folder itself; one that ends with `/` is of all below that folder. Everything else stands for
//! itself. Names are compared as bytes, so that one which is no text is matched like any other. It looks at no file.

use core::fmt;
use std::path::Path;

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    text: String,
    names: Vec<String>,
}

impl Glob {
    /// Reads a pattern.
    ///
    /// # Errors
    /// In words, where it is none of a path below a folder.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let bare = text.strip_prefix("./").unwrap_or(text);
        if bare.is_empty() || bare.starts_with('/') || bare.split('/').any(|name| name == "..") {
            return Err(format!(
                "`{text}` is no pattern of files in the project: write it from the project's folder, as `tests/**`"
            ));
        }
        let (below, anywhere) = (bare.ends_with('/'), !text.contains('/'));
        let mut names: Vec<String> =
            bare.split('/').filter(|name| !name.is_empty() && *name != ".").map(str::to_owned).collect();
        if below {
            names.push("**".to_owned());
        }
        if anywhere {
            names.insert(0, "**".to_owned());
        }
        Ok(Self { text: text.to_owned(), names })
    }

    /// Whether it is of one path alone: it has nothing that stands for something else.
    #[must_use]
    pub fn is_of_one(&self) -> bool {
        !self.text.contains(['*', '?'])
    }

    /// Whether it is of this path.
    #[must_use]
    pub fn matches(&self, path: &Path) -> bool {
        let names: Vec<&[u8]> = path.iter().map(|name| name.as_encoded_bytes()).collect();
        whole(&self.names, &names)
    }

    /// Whether something below this folder may match.
    #[must_use]
    pub fn may_hold(&self, folder: &Path) -> bool {
        let mut patterns = self.names.iter();
        for name in folder {
            match patterns.next().map(String::as_str) {
                Some("**") => return true,
                Some(pattern) if one(pattern.as_bytes(), name.as_encoded_bytes()) => {}
                Some(_) | None => return false,
            }
        }
        patterns.next().is_some()
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Whether names match patterns: row by row, so that many `**` cost no more than their product.
fn whole(patterns: &[String], names: &[&[u8]]) -> bool {
    // reached[n]: the patterns so far stand for the first n names
    let mut reached = vec![false; names.len() + 1];
    reached[0] = true;
    for pattern in patterns {
        let mut next = vec![false; names.len() + 1];
        for at in 0..=names.len() {
            next[at] = if pattern == "**" {
                reached[at] || (at > 0 && next[at - 1])
            } else {
                at > 0 && reached[at - 1] && one(pattern.as_bytes(), names[at - 1])
            };
        }
        reached = next;
    }
    reached[names.len()]
}

/// Whether a name matches: at a mismatch the last `*` takes one byte more.
fn one(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&byte) if byte == b'?' || byte == name[n] => (p, n) = (p + 1, n + 1),
            Some(_) | None => {
                let Some((at, taken)) = star else { return false };
                star = Some((at, taken + 1));
                (p, n) = (at + 1, taken + 1);
            }
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glob(text: &str) -> Glob {
        Glob::parse(text).unwrap()
    }

    #[test]
    fn paths_match_by_name_and_by_folder() {
        for (pattern, yes, no) in [
            ("tests/**", &["tests/a", "tests/a/b.rs"][..], &["test", "x/tests/a", "testsa"][..]),
            ("tests/", &["tests/a", "tests/a/b"], &["a/tests/b"]),
            ("*.rs", &["a.rs", "b/c/a.rs", ".rs"], &["a.rsx", "a.rs/b"]),
            ("./src/*.rs", &["src/a.rs"], &["src/a/b.rs", "a.rs"]),
            ("a/**/z", &["a/z", "a/b/c/z"], &["a", "z", "a/zz"]),
            ("a*b*c", &["abc", "axxbyyc", "x/abcbc"], &["abcd", "ab"]),
            ("?.x", &["a.x"], &["ab.x", ".x"]),
            ("**/**/q", &["q", "a/q"], &["a"]),
            ("\u{fc} b.txt", &["\u{fc} b.txt"], &["u b.txt"]),
        ] {
            for path in yes {
                assert!(glob(pattern).matches(Path::new(path)), "{pattern} is of {path}");
                let folder = Path::new(path).parent().unwrap();
                assert!(glob(pattern).may_hold(folder), "{pattern} is found in {}", folder.display());
            }
            for path in no {
                assert!(!glob(pattern).matches(Path::new(path)), "{pattern} is not of {path}");
            }
        }
        assert!(!glob("tests/**").may_hold(Path::new("src")) && !glob("src/a.rs").may_hold(Path::new("src/a.rs")));
    }

    #[test]
    fn what_lies_outside_is_refused() {
        for text in ["", " ", "/etc/*", "../x", "a/../../b"] {
            assert!(Glob::parse(text).unwrap_err().contains("project's folder"), "{text}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let pattern = glob(&format!("{}b", "*a".repeat(40)));
        assert!(!pattern.matches(Path::new(&"a".repeat(2000))));
        let pattern = glob(&format!("{}b", "**/a/".repeat(40)));
        assert!(!pattern.matches(Path::new(&"a/".repeat(400))));
    }
}
