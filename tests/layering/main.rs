//! Layering, read from the source: which module uses which, and what a module must never touch.
//!
//! The arrows of `src/ARCHITECTURE.md` are the table [`rules`] below. Every file is reached from `lib.rs` and `main.rs` by
//! its `mod` lines, as the compiler reaches it, so that code under `#[cfg(test)]` is known and a file that nobody
//! declares is found. The checker is itself tested on small bad snippets: a rule that cannot fail is no rule.

mod check;
mod rules;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use check::{Declared, Place, check};

/// A file, where its module stands, and whether it is compiled for tests alone.
struct Source {
    file: PathBuf,
    place: Place,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every `.rs` file below `dir`.
fn files(dir: &Path, out: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(dir).expect("the source can be listed") {
        let path = entry.expect("the source can be listed").path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            out.insert(path);
        }
    }
}

/// The file of a module declared in `parent`.
fn file_of(parent: &Source, name: &str) -> PathBuf {
    let stem = parent.file.file_stem().and_then(|stem| stem.to_str()).expect("file names are text");
    let dir = parent.file.parent().expect("a file lies in a folder");
    let home = if ["lib", "main", "mod"].contains(&stem) { dir.to_path_buf() } else { dir.join(stem) };
    let (flat, folder) = (home.join(format!("{name}.rs")), home.join(name).join("mod.rs"));
    if flat.exists() { flat } else { folder }
}

#[test]
fn every_module_keeps_to_its_layer() {
    let place = |main| Place { module: Vec::new(), main, test: false };
    let mut todo = vec![
        Source { file: root().join("lib.rs"), place: place(false) },
        Source { file: root().join("main.rs"), place: place(true) },
    ];
    let (mut faults, mut seen) = (Vec::new(), BTreeSet::new());
    while let Some(source) = todo.pop() {
        let text =
            fs::read_to_string(&source.file).unwrap_or_else(|error| panic!("{}: {error}", source.file.display()));
        let found = check(&text, &source.place).unwrap_or_else(|error| panic!("{}: {error}", source.file.display()));
        faults.extend(found.faults.iter().map(|fault| format!("{}: {fault}", source.file.display())));
        for Declared { name, test } in found.declared {
            let file = file_of(&source, &name);
            let mut module = source.place.module.clone();
            module.push(name);
            todo.push(Source { file, place: Place { module, main: source.place.main, test } });
        }
        seen.insert(source.file);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let mut all = BTreeSet::new();
    files(&root(), &mut all);
    let orphans: Vec<_> = all.difference(&seen).collect();
    assert!(orphans.is_empty(), "no module declares {orphans:?}");
    assert!(seen.len() > 40, "only {} files were found", seen.len());
}

/// The faults of a snippet at a place such as `engine::laws::fixed`.
fn faults(module: &str, text: &str) -> Vec<String> {
    let module = module.split("::").filter(|part| !part.is_empty()).map(String::from).collect();
    check(text, &Place { module, main: false, test: false }).expect("the snippet parses").faults
}

fn bad(module: &str, text: &str) {
    assert!(!faults(module, text).is_empty(), "{module} may not have {text:?}");
}

fn good(module: &str, text: &str) {
    assert_eq!(faults(module, text), Vec::<String>::new(), "{module} may have {text:?}");
}

#[test]
fn arrows_point_up_only() {
    good("engine::band", "use crate::engine::units::Mean; use super::error::BandError;");
    good("sim::world", "use crate::engine::Machine; use super::luck::Luck; use crate::sim::dist::Size;");
    good("lab::sweep", "use crate::{engine::Law, sim::Luck}; fn f() { crate::trace::write(); }");
    good("cli::sweep", "use crate::lab::Grid; use crate::agents; use crate::trace; use crate::engine; use crate::sim;");
    bad("engine::band", "use crate::sim::Luck;");
    bad("engine::band", "use super::super::sim;");
    bad("engine", "use crate::*;");
    bad("engine::laws::fixed", "fn f() { super::super::super::lab::run(); }");
    bad("engine::laws", "mod inner { use super::super::super::trace; }");
    bad("sim::world", "fn f() -> crate::lab::Grid { loop {} }");
    bad("sim", "use crate::trace::Writer;");
    bad("trace", "use crate::{engine, sim};");
    bad("trace", "use crate::lab;");
    bad("agents::claude", "use crate::lab::fit;");
    bad("agents", "use crate::sim as world;");
    bad("lab::sweep", "use crate::cli::bar;");
    bad("lab::calibrate", "use crate::agents::read;");
    bad("lab", "fn f() { assert_eq!(crate::agents::x(), 1); }");
    bad("lab", "fn f() -> bool { matches!(x, crate::cli::Y if true) }");
    bad("lab", "#[cfg(test)] mod tests { use crate::cli; }");
}

#[test]
fn the_binary_knows_the_command_line_alone() {
    let main = Place { module: Vec::new(), main: true, test: false };
    let faults = |text: &str| check(text, &main).expect("the snippet parses").faults.len();
    assert_eq!(faults("fn main() -> ExitCode { flyball::cli::main() }"), 0);
    assert_eq!(faults("use flyball::lab::sweep;"), 1);
    assert_eq!(faults("fn main() { flyball::engine::x() }"), 1);
}

#[test]
fn the_engine_is_bare() {
    good("engine::units", "use core::fmt; use alloc::vec::Vec;");
    good("engine::laws::stride", "fn f(x: f64) -> f64 { libm::log(x) * 0.5 }");
    good(
        "engine::units",
        "#[cfg(test)] mod tests { use proptest::prelude::*; fn f() -> f64 { std::hint::black_box(0.5) } }",
    );
    bad("engine::units", "use std::fmt;");
    bad("engine::units", "use ::std::fmt;");
    bad("engine::units", "extern crate std;");
    bad("engine::units", "fn f() { std::mem::drop(1) }");
    bad("engine::units", "fn f() -> f64 { loop {} }");
    bad("engine::units", "fn f(x: u64) -> u64 { (x as f32) as u64 }");
    bad("engine::units", "const HALF: u8 = { let _ = 0.5; 1 };");
    bad("engine::units", "fn f() { assert!(x < 0.5) }");
    bad("engine::units", "fn f() { given![x; std::mem::take(y)] }");
    bad("engine::log", "fn f() { libm::log(x); }");
    bad("engine::laws", "use serde::Serialize;");
    bad("engine::laws", "use std::sync::Arc;");
}

#[test]
fn nobody_below_the_shell_acts() {
    good("sim::dist", "use std::sync::Arc; fn f() { std::mem::swap(a, b) }");
    good("lab::scenario::load", "use std::fs::File;");
    good("cli::out", "use std::fs; use std::time::Instant;");
    bad("lab::sweep", "use std::fs::File;");
    bad("lab::sweep", "use std::{fs, fmt};");
    bad("lab::sweep", "fn f() { std::time::Instant::now(); }");
    bad("lab::sweep", "use std::time::{Duration, SystemTime};");
    bad("sim::world", "fn f() { std::thread::yield_now() }");
    bad("sim::world", "use std::thread;");
    bad("agents::codex", "use std::fs::read;");
    bad("trace", "use std::process::Command;");
    bad("trace", "fn f() { std::env::var(x); }");
    bad("sim::noise", "use rand::Rng;");
    bad("lab::report", "use clap::Parser;");
    good("run::system::files", "use std::fs::File;");
    bad("run::host", "use std::fs::File;");
    bad("run::host", "fn f() { std::thread::yield_now() }");
    bad("run::host", "use rustix::time::x; use std::time::Instant;");
    bad("run::record", "use crate::lab::axis;");
    bad("run::host", "use crate::cli::output;");
}
