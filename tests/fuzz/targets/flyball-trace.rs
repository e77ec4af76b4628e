//! Any bytes into the reader of flyball-trace.
#![no_main]

use flyball::agents::Format;

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| harness::check(Format::Flyball, bytes));
