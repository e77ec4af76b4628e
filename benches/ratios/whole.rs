//! The whole grid in a process of its own, so that its peak of memory is that of nothing else.

use std::error::Error;
use std::process::Command;
use std::time::Instant;

use flyball::engine::LawKind;

use super::swept::{grid, swept};
use super::typical;

/// The word that makes this program do the grid and nothing else.
pub(crate) const ALONE: &str = "--whole-grid";

/// Does the grid and says seconds and the peak in megabytes.
pub(crate) fn alone() -> Result<String, Box<dyn Error>> {
    let scenario = typical::scenario()?;
    let grid = grid(&scenario, LawKind::Reference, [10, 10, 10])?;
    let began = Instant::now();
    let finished = swept(&scenario, &grid, 1000, 2)?;
    let took = began.elapsed().as_secs_f64();
    assert_eq!(finished.runs, 1000);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
    // user time is the 12th field after the name, in hundredths of a second
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let cpu = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(11)?.parse().ok());
    let (peak, cpu) = (peak.map(|peak: f64| peak / 1024.0), cpu.map(|ticks: f64| ticks / 100.0));
    Ok(serde_json::json!({ "seconds": took, "cpu": cpu, "peak_mb": peak }).to_string())
}

/// What one process said, each the least of several.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told {
    /// Seconds on the clock, two threads.
    pub(crate) seconds: Option<f64>,
    /// Seconds of processor time of both threads together.
    pub(crate) cpu: Option<f64>,
    /// Peak of memory, megabytes.
    pub(crate) peak: Option<f64>,
}

/// The least of `times` processes; none where the system does not say.
pub(crate) fn measure(times: u32) -> Result<Told, Box<dyn Error>> {
    let mut least = Told::default();
    for _ in 0..times {
        let output = Command::new(std::env::current_exe()?).arg(ALONE).output()?;
        let told: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        for (known, name) in [(&mut least.seconds, "seconds"), (&mut least.cpu, "cpu"), (&mut least.peak, "peak_mb")] {
            *known = told[name].as_f64().map(|new| known.map_or(new, |known| known.min(new))).or(*known);
        }
    }
    Ok(least)
}
