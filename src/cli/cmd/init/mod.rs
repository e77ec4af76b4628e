//! `init`: settings, a check list and a container recipe for the project at hand.
//!
//! | file | what |
//! |---|---|
//! | `flyball.toml` | every setting with a line about it and what it is where nobody says; all but a few stand behind a `#` |
//! | `checks.toml` | the checks that say that the project is sound, by what is found in it |
//! | `Containerfile` | an image to run the loop in, as a user who is not root, with the gate mounted read-only |
//!
//! A file that is there stays as it is, and that is said. What is found is shown: nothing of the project is run.

mod kinds;
mod text;

use std::fs;
use std::path::PathBuf;

use clap::Args;

use self::kinds::found;
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::output::{hint, print, say, write_whole};

/// `init`.
#[derive(Debug, Args)]
pub struct Init {
    /// The project's folder
    #[arg(value_name = "DIR", default_value = ".")]
    pub project: PathBuf,
    /// Print what would be written, and write nothing
    #[arg(long)]
    pub print: bool,
}

/// Writes the files that are not there.
///
/// # Errors
/// A folder that is none, or a file that cannot be written.
pub fn run(args: &Init) -> Outcome {
    let project = fs::canonicalize(&args.project)
        .map_err(|error| Failure::usage(error).while_(format!("cannot use the project {}", args.project.display())))?;
    if !project.is_dir() {
        return Err(Failure::said("it is no folder").while_(format!("cannot use the project {}", project.display())));
    }
    let kinds = found(&project);
    let files = text::files(&kinds);
    if args.print {
        let all: Vec<String> = files.iter().map(|(name, text)| format!("# ==== {name} ====\n\n{text}")).collect();
        print(all.join("\n").as_bytes())?;
        return Ok(Exit::Success);
    }
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
    let what = if names.is_empty() { "nothing that is known here".to_owned() } else { names.join(", ") };
    say(&format!("flyball: found in {}: {what}", project.display()));
    for (name, text) in &files {
        let path = project.join(name);
        // a link that leads nowhere is somebody's, too
        if fs::symlink_metadata(&path).is_ok() {
            say(&format!("flyball: {name} is there, and stays as it is"));
            continue;
        }
        write_whole(&path, |file| file.write_all(text.as_bytes()))?;
        say(&format!("flyball: {name} was written"));
    }
    if kinds.is_empty() {
        hint(
            "put a check into checks.toml, and its name into flyball.toml: without one the loop cannot end in success",
        );
    }
    hint(
        "read them, commit them, and try the loop without an account: flyball run --agent sim --max-rounds 3 \"any task\"",
    );
    Ok(Exit::Success)
}
