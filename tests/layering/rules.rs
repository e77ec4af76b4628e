//! The table of what each layer may use.

/// What one layer may use, by name.
pub(crate) struct Layer {
    pub(crate) name: &'static str,
    /// Other layers of this crate.
    layers: &'static [&'static str],
    /// Crates beside `core`, `alloc` and `std`.
    crates: &'static [&'static str],
}

/// Every layer, and what it may use beside itself.
const LAYERS: &[Layer] = &[
    Layer { name: "engine", layers: &[], crates: &[] },
    Layer { name: "sim", layers: &["engine"], crates: &["libm"] },
    Layer { name: "trace", layers: &["engine"], crates: &["serde", "serde_json", "sha2", "thiserror"] },
    Layer { name: "agents", layers: &["engine"], crates: &["serde", "serde_json"] },
    Layer {
        name: "lab",
        layers: &["engine", "sim", "trace"],
        crates: &["libm", "rayon", "serde", "serde_json", "toml", "csv", "strsim", "thiserror", "sha2", "resvg"],
    },
    Layer {
        name: "run",
        layers: &["engine", "trace", "agents"],
        crates: &["serde", "serde_json", "sha2", "strsim", "thiserror", "rustix", "signal_hook", "toml", "regex"],
    },
    Layer { name: "cli", layers: &["engine", "sim", "trace", "agents", "lab", "run"], crates: DEPENDENCIES },
];

/// All that the package depends on.
pub(crate) const DEPENDENCIES: &[&str] = &[
    "libm",
    "rayon",
    "serde",
    "serde_json",
    "toml",
    "csv",
    "strsim",
    "thiserror",
    "sha2",
    "resvg",
    "clap",
    "indicatif",
    "anstream",
    "comfy_table",
    "anyhow",
    "ctrlc",
    "rustix",
    "signal_hook",
    "regex",
    "serde_saphyr",
    "ratatui",
    "rand",
    "rand_distr",
];

/// What acts on the world, or looks at it: for the command line alone.
const ACTING: &[&str] = &["fs", "thread", "process", "net", "env", "os", "time::Instant", "time::SystemTime"];

/// The one module of the lab that opens a file: a scenario, to name it in its errors.
const READER: &str = "lab::scenario";

/// The modules of the real loop that act. All others of it ask these, through one trait.
const ACTORS: &[&str] = &["run::system", "run::gate", "run::folder"];

/// The layers, for telling a layer's name from any other.
pub(crate) fn is_layer(name: &str) -> bool {
    LAYERS.iter().any(|layer| layer.name == name)
}

/// Where the rules are applied: the module, and whether its code is for tests alone.
pub(crate) struct Here<'a> {
    pub(crate) module: &'a [String],
    pub(crate) test: bool,
}

impl Here<'_> {
    fn layer(&self) -> Option<&'static Layer> {
        let first = self.module.first()?;
        LAYERS.iter().find(|layer| layer.name == first)
    }

    fn within(&self, path: &str) -> bool {
        let here = self.module.join("::");
        here == path || here.strip_prefix(path).is_some_and(|rest| rest.starts_with("::"))
    }

    /// Why this module of the crate may not be used here; `target` is its path from the root.
    pub(crate) fn refuses_module(&self, target: &[String]) -> Option<String> {
        let layer = self.layer()?;
        let first = target.first().map_or("*", String::as_str);
        let fine = first == layer.name || layer.layers.contains(&first);
        (!fine).then(|| format!("{} uses crate::{}", self.module.join("::"), target.join("::")))
    }

    /// Why this path outside the crate may not be used here; code for tests may use any.
    pub(crate) fn refuses_foreign(&self, path: &[String]) -> Option<String> {
        let (layer, first) = (self.layer()?, path.first()?.as_str());
        if self.test {
            return None;
        }
        let bare = layer.name == "engine" && first == "std";
        let acts = layer.name != "cli"
            && first == "std"
            && ACTING.iter().any(|what| starts(&path[1..], what))
            && !(self.within(READER) && ["fs", "os::unix::fs"].iter().any(|what| starts(&path[1..], what)))
            && !ACTORS.iter().any(|actor| self.within(actor));
        let libm = first == "libm" && self.within("engine::laws");
        let stranger = DEPENDENCIES.contains(&first) && !layer.crates.contains(&first) && !libm;
        (bare || acts || stranger).then(|| format!("{} uses {}", self.module.join("::"), path.join("::")))
    }

    /// Whether floats are out of place here.
    pub(crate) fn refuses_floats(&self) -> bool {
        self.layer().is_some_and(|layer| layer.name == "engine") && !self.test && !self.within("engine::laws")
    }
}

/// Whether `path` begins with the segments of `prefix`.
fn starts(path: &[String], prefix: &str) -> bool {
    let prefix: Vec<&str> = prefix.split("::").collect();
    path.len() >= prefix.len() && path.iter().zip(prefix).all(|(got, want)| got == want)
}
