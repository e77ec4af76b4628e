//! The binary: the command line and its exit code.
use std::process::ExitCode;

fn main() -> ExitCode {
    flyball::cli::main()
}
