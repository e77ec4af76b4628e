//! The lean Python peer as a process.

use std::path::Path;
use std::process::Command;

/// What it said.
pub(crate) struct Told {
    pub(crate) ns_per_turn: f64,
    pub(crate) figures: Vec<[f64; 3]>,
}

/// So many runs, the least time of `repeat`; none where there is no `python3`.
pub(crate) fn lean(runs: u32, repeat: u32) -> Option<Told> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/lean.py");
    let output = Command::new("python3")
        .arg(script)
        .args(["--runs", &runs.to_string(), "--repeat", &repeat.to_string()])
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    let figures = told["figures"].as_array()?.iter().map(|run| {
        let figure = |place: usize| run[place].as_f64();
        Some([figure(0)?, figure(1)?, figure(2)?])
    });
    Some(Told {
        ns_per_turn: told["seconds"].as_f64()? * 1e9 / told["turns"].as_f64()?,
        figures: figures.collect::<Option<_>>()?,
    })
}
