//! The whole grid in a process of its own, so that its peak of memory is that of nothing else.

use std::error::Error;
use std::process::Command;
use std::time::Instant;

use super::typical;

/// The word that makes this program do the grid and nothing else.
pub const ALONE: &str = "--whole-grid";

/// Does the grid and says seconds and the peak in megabytes.
pub fn alone() -> Result<String, Box<dyn Error>> {
    let scenario = typical::scenario()?;
    let grid = typical::grid(&scenario, [10, 10, 10])?;
    let began = Instant::now();
    let finished = typical::swept(&scenario, &grid, 1000, 2)?;
    let took = began.elapsed().as_secs_f64();
    assert_eq!(finished.runs, 1000);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
    Ok(serde_json::json!({ "seconds": took, "peak_mb": peak.map(|peak: f64| peak / 1024.0) }).to_string())
}

/// Seconds on two threads and peak megabytes of the whole grid, the least of `times` processes.
pub fn measure(times: u32) -> Result<(Option<f64>, Option<f64>), Box<dyn Error>> {
    let (mut seconds, mut peak) = (None::<f64>, None::<f64>);
    for _ in 0..times {
        let output = Command::new(std::env::current_exe()?).arg(ALONE).output()?;
        let told: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        let least = |known: Option<f64>, new: &serde_json::Value| match (known, new.as_f64()) {
            (Some(known), Some(new)) => Some(known.min(new)),
            (known, new) => new.or(known),
        };
        (seconds, peak) = (least(seconds, &told["seconds"]), least(peak, &told["peak_mb"]));
    }
    Ok((seconds, peak))
}
