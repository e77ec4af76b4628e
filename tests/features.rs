//! No feature changes a number: one simulated run, pinned, and the same under every feature set; and what the bare build
//! pulls in.

use std::process::Command;

/// The crates of the tree that a build without features needs, this one first.
#[test]
fn the_bare_build_needs_libm_at_most() {
    let out = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--no-default-features", "--edges", "normal", "--prefix", "none"])
        .args(["--format", "{lib}", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo can be run");
    let text = String::from_utf8(out.stdout).expect("names are text");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert_eq!(text.lines().collect::<Vec<_>>(), ["flyball", "libm"]);
}

#[cfg(feature = "sim")]
mod run {
    use std::num::NonZeroU64;

    use flyball::engine::laws::Reference;
    use flyball::engine::{
        Band, Checkpoint, Control, Event, Governor, Ladder, Limits, Machine, Millis, Over, Plan, Ratio, Target,
        Timestamp,
    };
    use flyball::sim::{AgentModel, AgentSpec, World};

    /// 64-bit FNV-1a, written out here so that no crate's version can change it.
    struct Hash(u64);

    impl Hash {
        fn add(&mut self, value: u64) {
            for byte in value.to_le_bytes() {
                self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
    }

    #[test]
    fn one_run_is_pinned() {
        let ladder = Ladder::new(["max", "xhigh", "high", "medium", "low", "off"]).expect("six words");
        let band = Band::new(Target::from_tokens(2048), Ratio::from_ppm(150_000)).expect("a band");
        let mut plan = Plan::new(ladder.clone(), "low");
        plan.limits = Limits { rounds: NonZeroU64::new(40), ..Limits::default() };
        let governor = Governor::new(Reference, band, Over::new(Millis::from_secs(300)), ladder.rungs());
        let mut machine = Machine::new(plan, governor, Checkpoint::default());

        let model = AgentModel::new(AgentSpec::geometric(500.0, 1.6, 6).expect("a spec")).expect("a model");
        let accounting = model.spec().accounting;
        let mut luck = model.luck(7, 3, 40);
        let (mut hash, mut facts) = (Hash(0xcbf2_9ce4_8422_2325), 0u64);
        let mut trace = |at: Timestamp, event: Event<'_>| {
            if matches!(event, Event::Fact(_)) {
                hash.add(at.millis());
                facts += 1;
            }
        };
        let mut rungs = String::new();
        let stop = World::new(&mut luck, accounting).run(&mut machine, &mut trace, |round| {
            rungs.push_str(&round.verdict.from.index().to_string());
        });
        assert_eq!(stop, Control::Rounds);
        hash.add(machine.spent().output.count());
        assert_eq!(
            (rungs.as_str(), machine.spent().output.count(), facts, hash.0),
            ("4322221111222332232222121212101001212123", 1_911_117, 1_006, 0x76d9_a039_4c97_5f3d),
            "a value change: it needs a line of its own in CHANGELOG.md"
        );
    }
}
