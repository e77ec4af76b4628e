//! What fuzzing found and began with, replayed: each file of the corpus through the same harness.
#![cfg(feature = "agents")]

use std::fs;
use std::path::Path;

use flyball::agents::{Format, LogReader};

#[path = "fuzz/harness.rs"]
mod harness;

#[test]
fn every_file_of_the_corpus_holds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    for format in Format::ALL {
        let mut files = 0;
        for entry in fs::read_dir(root.join(format.name())).unwrap() {
            harness::check(format, &fs::read(entry.unwrap().path()).unwrap());
            files += 1;
        }
        assert!(files > 0, "{} has no seed", format.name());
    }
}

#[test]
fn a_lead_tells_its_format() {
    for format in Format::ALL {
        let mut reader = LogReader::new();
        reader.push(harness::lead(format).as_bytes());
        reader.push(b"\n");
        assert_eq!(reader.finish().unwrap().format, format);
    }
}

#[test]
fn bytes_of_any_kind_hold_behind_every_lead() {
    // a generator of its own, so that no byte of it changes with a library: Steele and Vigna, SplitMix64
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    };
    let marks = br#"{}[]:,"\ netural0123456789.-eE"#;
    for round in 0..200_usize {
        let noise: Vec<u8> = (0..round)
            .map(|_| {
                let word = next();
                let mark = marks[usize::try_from(word % 30).unwrap() % marks.len()];
                if word % 16 == 0 { u8::try_from(word >> 56).unwrap() } else { mark }
            })
            .collect();
        Format::ALL.into_iter().for_each(|format| harness::check(format, &noise));
    }
}
