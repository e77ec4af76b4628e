//! What is recommended on small requests, and how worlds differ.

use super::judge::{Request, recommend};
use super::perturb::worlds;
use super::race::race;
use super::screen::screen;
use super::*;
use crate::lab::grid::Axes;
use crate::lab::settings::Settings;

fn load(text: &str) -> Scenario {
    let mut scenario = Scenario::load(text, "x.toml").unwrap();
    scenario.plan.rounds = 60;
    scenario
}

fn typical() -> Scenario {
    load(include_str!("../../../scenarios/s02-typical.toml"))
}

fn request<'a>(worlds: &'a [World], current: Option<Settings>) -> Request<'a> {
    let axes = Axes {
        law: Some(vec![LawKind::Reference, LawKind::Reset]),
        over: Some([300, 1800, 3600].map(Millis::from_secs).to_vec()),
        slack: Some([150_000, 300_000].map(Ratio::from_ppm).to_vec()),
        ..Axes::default()
    };
    let (weights, rest) = (Weights::default(), Millis::from_secs(5));
    Request { worlds, axes, rest, current, race_runs: 16, fresh_runs: 40, seed: 7, weights }
}

fn page(worlds: &[World]) -> text::Page<'_> {
    text::Page { worlds, aims: &[], snapped: false, price: None, seed: 7, fresh_runs: 40, command: String::new() }
}

#[test]
fn the_typical_agent_gets_a_long_window_and_the_law_that_forgets() {
    let all = worlds(&typical(), true);
    assert_eq!(all.len(), 9);
    let told = recommend(&request(&all, Some(Settings::original())), &|_| {}).unwrap().unwrap();
    let chosen = told.chosen();
    assert_eq!(chosen.setting.law, LawKind::Reset);
    assert!(chosen.setting.over >= Millis::from_secs(1800) && chosen.setting.slack.ppm() == 300_000);
    let used = told.promises.iter().find(|promise| promise.who == "in use").unwrap();
    assert!(used.worse.unwrap().interval.unwrap().lo > 0.0, "the defaults are worse for certain");
    let regret = told.regret.unwrap();
    assert!(regret.tokens.mean > 1e6 && regret.seconds.mean > 3600.0, "{regret:?}");
    assert_eq!(chosen.on_rung.n, 40);
    assert!(told.front.iter().any(|(setting, _)| *setting == chosen.setting));
    let (at, share) = chosen.worst_world.unwrap();
    assert!(!all[at].home && share.mean < chosen.on_rung.mean, "{at}: {share:?}");
    assert_eq!(told.reweighed.len(), 8);
    let plain = told.promises.iter().find(|promise| promise.who == "default law").unwrap();
    assert!(plain.setting.law == LawKind::DEFAULT && plain.by_world.iter().all(|loss| loss.interval.is_some()));
    let page = text::Page { price: Some(15.0), command: "again".to_owned(), ..page(&all) };
    let text = text::render(&page, &told);
    for words in [
        "--law reset",
        "USD",
        "of the agents that it might be, ",
        "hours",
        "gaps wider by a fifth",
        "twice the weight on reversals",
        "Again: again",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn worlds_differ_in_what_they_say() {
    let scenario = typical();
    let all = worlds(&scenario, true);
    let means = |at: usize| all[at].scenario.derived().means;
    let near = |got: f64, want: f64| assert!((got / want - 1.0).abs() < 1e-9, "{got} {want}");
    near(means(1)[1] / means(1)[2], libm::pow(1.6, 1.2));
    near(means(2)[1] / means(2)[2], libm::pow(1.6, 0.8));
    near(means(3)[2], 2048.0);
    near(all[4].scenario.agent.spec().session.tau, 0.4);
    near(means(5)[2], 2048.0 / libm::pow(1.6, 0.25));
    near(means(6)[2], 2048.0 * libm::pow(1.6, 0.25));
    near(all[7].scenario.agent.spec().drift.steps[0].level, 1.6);
    assert!(matches!(all[8].scenario.agent.spec().accounting, crate::sim::Accounting::Partial { .. }));
    assert!(all[0].home && !all[1].home && all.iter().all(|world| world.reachable));
    assert_eq!(worlds(&scenario, false).len(), 1);
}

#[test]
fn the_screen_leaves_out_what_theory_rules_out() {
    let all = worlds(&typical(), false);
    let screened = screen(
        &all,
        &Axes { law: Some(vec![LawKind::Reference, LawKind::Reset, LawKind::Fixed]), ..Axes::default() },
        Millis::ZERO,
    );
    let screened = screened.unwrap();
    assert_eq!(screened.all, 330);
    let has = |law, over, slack: u32| {
        let setting = Setting { law, over: Millis::from_secs(over), slack: Ratio::from_ppm(slack), rest: Millis::ZERO };
        screened.settings.contains(&setting)
    };
    assert!(has(LawKind::Reset, 3600, 300_000) && has(LawKind::Reference, 300, 300_000));
    assert!(!has(LawKind::Reset, 300, 50_000) && !has(LawKind::Reset, 300, 500_000), "illegal slacks");
    // a window of four rounds at a slack of .15 goes round with period 8
    assert!(!has(LawKind::Reference, 3600, 150_000) && has(LawKind::Reset, 3600, 150_000));
    // one that never moves is one setting
    assert_eq!(screened.settings.iter().filter(|setting| setting.law == LawKind::Fixed).count(), 1);
}

#[test]
fn what_a_law_looks_at_is_seen_in_any_world_whatever_their_order() {
    let mut far = typical();
    far.governor.juice = Target::from_tokens(100_000);
    far.name = "far".to_owned();
    let laws = vec![LawKind::Reference, LawKind::Reset, LawKind::Confirm, LawKind::Stride];
    let axes = Axes { law: Some(laws), ..Axes::default() };
    let of = |scenarios: [&Scenario; 2]| {
        let all: Vec<World> = scenarios.iter().flat_map(|scenario| worlds(scenario, false)).collect();
        screen(&all, &axes, Millis::ZERO).unwrap()
    };
    let (first, second) = (of([&far, &typical()]), of([&typical(), &far]));
    assert_eq!(first, second);
    assert_eq!(first.once, [LawKind::Stride]);
    assert!(first.settings.len() > 100 && !first.left_out.iter().any(|line| line.contains("stride")), "{first:?}");
}

#[test]
fn a_race_costs_little_and_keeps_its_runs() {
    let all = worlds(&typical(), false);
    let screened = screen(&all, &Axes { law: Some(vec![LawKind::Reset]), ..Axes::default() }, Millis::ZERO).unwrap();
    let raced = race(&all, &screened.settings, 32, 1, &Weights::default()).unwrap();
    assert_eq!(raced.left.len(), 6);
    assert!(raced.record.runs[0].iter().all(|runs| runs.len() == 32));
    let full = screened.settings.len() as u64 * 32;
    assert!(raced.cost * 3 < full, "{} of {full}", raced.cost);
    // the runs are those of the setting itself, whatever was dropped on the way
    let alone = Record::new(&all, &raced.left[..1], &(0..32), 1, &Weights::default()).unwrap();
    assert_eq!(alone.runs[0][0], raced.record.runs[0][0]);
}

#[test]
fn the_objective_is_the_mean_and_half_the_worst() {
    let run = |loss: i64| Run { parts: Parts { excess: loss, ..Parts::default() }, ..Run::default() };
    let (calm, wild) = ([run(100), run(300)], [run(900), run(500)]);
    let (values, worst) = objective(&[&calm, &wild], &Weights::default());
    assert_eq!((values, worst), (vec![500 + 450, 400 + 250], 1));
}

#[test]
fn settings_of_the_original_are_read_and_written() {
    let text = "juice: 2000     # output tokens\nover: 300\n\nslack: 0.15\nrest: 5\nbudget: 10\n";
    assert_eq!(yaml::read(text).unwrap(), Settings::original(), "it has one law");
    let mut settings = Settings::original();
    assert_eq!(yaml::read(&yaml::write(&settings, "two\nlines")).unwrap(), settings);
    settings.governor.law = LawKind::Reset;
    settings.governor.over = Millis::from_secs(3600);
    settings.governor.juice = Target::from_micros(680_500_000);
    settings.governor.budget = None;
    let written = yaml::write(&settings, "");
    assert!(written.contains("juice: 680.5 ") && written.contains("over: 3600 ") && written.contains("budget: 0 "));
    assert!(written.contains("chosen for reset") && written.contains("does there what 300 s does"), "{written}");
    for (text, want) in [
        ("juice\n", "line 1"),
        ("\njuice: -5\n", "line 2: juice: -5"),
        ("slack: lots\n", "slack: lots"),
        ("  law: reset\n", "no such setting"),
        ("budget: nan\n", "budget"),
    ] {
        assert!(yaml::read(text).unwrap_err().to_string().contains(want), "{text:?}");
    }
}

#[test]
fn a_target_off_the_ladder_is_told_and_a_rung_offered() {
    let mut scenario = typical();
    scenario.governor.juice = Target::from_tokens(9000);
    let all = worlds(&scenario, false);
    assert!(!all[0].reachable);
    let told = recommend(&request(&all, None), &|_| {}).unwrap().unwrap();
    let said = text::sentences(&page(&all), &told).join("\n");
    assert!(said.contains(
        "s02-typical: the target is 9000 output tokens per turn, the scenario's own; rung-5, which makes 5243, is nearest."
    ));
    assert!(said.contains("above the whole ladder; --snap takes 5243"), "{said}");
    assert!(told.regret.is_none());
}

/// What is recommended where the start is far off and nothing ever moves.
fn hopeless(current: Option<Settings>) -> (Vec<World>, judge::Recommendation) {
    let all = worlds(&load(include_str!("../../../scenarios/s16-far-start.toml")), false);
    let axes = Axes { law: Some(vec![LawKind::Fixed]), ..Axes::default() };
    let told = recommend(&Request { axes, ..request(&all, current) }, &|_| {}).unwrap().unwrap();
    (all, told)
}

#[test]
fn what_never_settles_is_given_no_number() {
    use super::judge::Within;
    let runs = |settled: usize| {
        let all: Vec<Option<i64>> = (0..100).map(|at| (at < settled).then_some(i64::try_from(at).unwrap())).collect();
        [0.5, 0.9].map(|share| Within::of(&all, share).unwrap())
    };
    assert_eq!(runs(95)[1].tokens, Some(89));
    assert_eq!(runs(95)[1].interval.unwrap()[1], None, "it may lie among those that never settled");
    assert_eq!(runs(90)[1].tokens, Some(89));
    assert_eq!(runs(89).map(|within| within.tokens), [Some(49), None]);
    assert_eq!(runs(49).map(|within| within.tokens), [None, None]);
    let (all, told) = hopeless(None);
    let said = text::render(&page(&all), &told);
    assert!(said.contains("More than 50 % of runs never settle within the 60 rounds."), "{said}");
    assert!(said.contains("never settles within the 60 rounds") && !said.contains("nine of ten"), "{said}");
    assert!(text::promised(&told)[2].iter().filter(|cell| *cell == "never").count() == 2, "{said}");
}

#[test]
fn what_is_not_good_is_said_first_with_why() {
    let (all, told) = hopeless(None);
    let said = text::render(&page(&all), &told);
    assert!(
        said.starts_with("warning: This is the least bad of the settings that were tried, and it is not good"),
        "{said}"
    );
    assert!(
        said.contains("right rung in 0.0 ") && said.contains("100.0 (91.2 to 100.0) % of runs never settle"),
        "{said}"
    );
    assert!(said.contains("The law fixed never moves") && !said.contains("Neither target nor logs"), "{said}");
    assert!(said.contains("It is the only setting that was tried.") && !said.contains("least loss of all"), "{said}");
    assert!(said.contains("The default law, stride, is better, with "), "{said}");
    // causes, each seen in a ladder that has it
    let causes = |change: &dyn Fn(&mut Scenario)| {
        let (mut all, told) = hopeless(None);
        change(&mut all[0].scenario);
        let world = World::new("x", all[0].scenario.clone(), true);
        doubt::warnings(&page(&[world]), &told).join("\n")
    };
    let off = causes(&|scenario| scenario.governor.juice = Target::from_tokens(9000));
    assert!(off.contains("lies outside the ladder, which makes from") && off.contains("--snap"), "{off}");
    let between = causes(&|scenario| scenario.governor.juice = Target::from_tokens(1619));
    assert!(between.contains("lies between rungs, and none is within 15.0 %"), "{between}");
    let alone = causes(&|scenario| {
        let one =
            crate::lab::scenario::Evidence::Measured { sessions: 1, calls: 56, ks_mixture: None, ks_lognormal: None };
        scenario.evidence = vec![one; scenario.evidence.len()];
    });
    assert!(alone.contains("fitted to 1 session,"), "{alone}");
    let twins = causes(&|scenario| {
        let mut spec = scenario.agent.spec().clone();
        spec.rungs[1].size = spec.rungs[0].size.clone();
        scenario.agent = crate::sim::AgentModel::new(spec).unwrap();
    });
    assert!(twins.contains("make nearly the same"), "{twins}");
}

#[test]
fn a_good_setting_is_told_without_a_warning_and_money_only_beyond_luck() {
    let all = worlds(&typical(), false);
    let used =
        Settings { governor: crate::lab::scenario::GovernorSettings { budget: None, ..Settings::original().governor } };
    let told = recommend(&request(&all, Some(used)), &|_| {}).unwrap().unwrap();
    let said = text::render(&text::Page { price: Some(15.0), ..page(&all) }, &told);
    assert!(said.starts_with("recommended: ") && !said.contains("warning"), "{said}");
    assert!(text::beyond_luck(&told) && said.contains(" USD ("), "{said}");
    // no budget is none, and not the usual one
    assert!(
        told.regret.unwrap().budget.is_none()
            && said.contains("Of each million output tokens (your settings have no budget)")
    );
    // what is in use is no worse than what cannot be told from it
    let mut same = told;
    same.promises.iter_mut().filter(|promise| promise.who == "in use").for_each(|promise| {
        promise.worse = Some(Estimate { mean: 0.0, interval: Some(Interval { lo: -0.001, hi: 0.001 }), n: 40 });
    });
    let said = text::regretted(&same, Some(15.0)).unwrap();
    assert!(said.contains("not greater beyond luck") && !said.contains("USD"), "{said}");
}

#[test]
fn the_settings_in_use_are_measured_at_their_own_target() {
    let all = worlds(&typical(), false);
    let used = Settings::original();
    let told = recommend(&request(&all, Some(used)), &|_| {}).unwrap().unwrap();
    let promise =
        |told: &judge::Recommendation| told.promises.iter().find(|promise| promise.who == "in use").unwrap().on_rung;
    let mut own = typical();
    own.governor.juice = used.governor.juice;
    let own = worlds(&own, false);
    let alone = recommend(&request(&own, Some(used)), &|_| {}).unwrap().unwrap();
    assert_eq!(promise(&told), promise(&alone));
    let said = |all: &[World], told| text::sentences(&page(all), told).join("\n");
    assert!(said(&all, &told).contains("measured at their own target of 2000"));
    assert!(!said(&own, &alone).contains("own target of"));
}

#[test]
fn targets_are_told_with_where_they_come_from_and_what_the_fit_rests_on() {
    let fitted = load(include_str!("../../../scenarios/gpt-5.5.toml"));
    let both: Vec<World> = [typical(), fitted].iter().flat_map(|scenario| worlds(scenario, false)).collect();
    let told = recommend(&request(&both, None), &|_| {}).unwrap().unwrap();
    let said =
        text::sentences(&text::Page { aims: &[aim::Aim::Asked, aim::Aim::Logs], ..page(&both) }, &told).join("\n");
    for words in [
        "as --juice asks",
        "gpt-5.5: the target is 320 output tokens per turn, which flyball took from the logs",
        "flyball.toml and juice.yaml have the target of s02-typical, 2048",
        "s02-typical: its sizes are stated, and fitted to no logs.",
        "gpt-5.5: the fit rests on ",
        "assumed and not measured: low",
        "what the scenario itself has wrong they do not hold",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn intervals_stay_inside_what_can_be_and_one_run_has_none() {
    let all = worlds(&load(include_str!("../../../scenarios/s01-quiet.toml")), false);
    let of = |fresh_runs: u32| {
        recommend(&Request { fresh_runs, race_runs: 2, ..request(&all, None) }, &|_| {}).unwrap().unwrap()
    };
    let told = of(3);
    let ends = told
        .promises
        .iter()
        .flat_map(|p| [p.on_rung, p.off_tokens, p.unsettled])
        .chain(told.front.iter().map(|(_, trade)| trade.on_rung));
    assert!(ends.filter_map(|share| share.interval).all(|interval| interval.lo >= 0.0 && interval.hi <= 1.0));
    let counts = told.promises.iter().flat_map(|p| [p.reversals, p.settle_rounds, p.settle_tokens]);
    assert!(counts.filter_map(|count| count.interval).all(|interval| interval.lo >= 0.0));
    let one = of(1);
    assert!(one.promises.iter().all(|promise| promise.unsettled.interval.is_none()));
    let said = text::render(&text::Page { fresh_runs: 1, ..page(&all) }, &one);
    assert!(said.contains("On 1 run that had no part in the choice (without intervals, which one run does not give)"));
    assert!(text::promised(&one).iter().flatten().all(|cell| !cell.contains("+-")), "{said}");
    let front = text::front(&told);
    assert!(front[0][3] == "runs" && front[2][3] == "2", "{front:?}");
}

#[test]
fn what_is_being_done_is_told() {
    let all = worlds(&typical(), false);
    let stages = std::cell::RefCell::new(Vec::new());
    recommend(&request(&all, None), &|stage| stages.borrow_mut().push(stage)).unwrap().unwrap();
    let stages = stages.into_inner();
    assert_eq!((stages.first(), stages.last()), (Some(&Stage::Screen), Some(&Stage::Fresh(40))));
    assert!(matches!(stages[1], Stage::Race { runs: 2, .. }), "{stages:?}");
    assert_eq!(Stage::Race { settings: 1, runs: 2 }.to_string(), "1 setting to 2 runs each");
}

#[test]
fn the_simpler_of_two_is_the_same_in_any_order_of_scenarios() {
    let fine = load(include_str!("../../../scenarios/s05-fine.toml"));
    let of = |scenarios: [&Scenario; 2]| {
        let all: Vec<World> = scenarios.iter().flat_map(|scenario| worlds(scenario, false)).collect();
        let [narrow, wide] = [100_000, 300_000].map(|slack| Setting {
            law: LawKind::Reset,
            over: Millis::from_secs(300),
            slack: Ratio::from_ppm(slack),
            rest: Millis::ZERO,
        });
        judge::simpler(&all, &narrow, &wide)
    };
    assert_eq!(of([&typical(), &fine]), of([&fine, &typical()]));
}

#[test]
fn what_rounds_to_nothing_has_no_sign() {
    let interval = Some(Interval { lo: -0.0001, hi: 0.002 });
    assert_eq!(text::about(&Estimate { mean: -0.0002, interval, n: 9 }, 1.0, 3), "0.000 (0.000 to 0.002)");
}
