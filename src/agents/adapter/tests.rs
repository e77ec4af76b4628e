//! What is asked becomes what is started.

use super::*;

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|&word| word.to_owned()).collect()
}

fn at_home(name: &str) -> Option<String> {
    (name == "HOME").then(|| "/h".to_owned())
}

/// A round in a made-up place.
fn base() -> Ask<'static> {
    Ask {
        program: &[],
        template: None,
        model: Some("m"),
        effort: Some("high"),
        session: "s-1",
        project: Path::new("/code/my.app"),
        round_dir: Path::new("/state/rounds/001"),
        home: &at_home,
        file: &|_| None,
        permissions: Permissions::Safe,
        caps: CallCaps::default(),
        extra: &[],
    }
}

fn asked(kind: AgentKind, ask: &Ask<'_>) -> Result<CommandSpec, AskError> {
    kind.adapter().command(ask)
}

#[test]
fn names_are_words() {
    for kind in AgentKind::ALL {
        assert_eq!(kind.to_string().parse::<AgentKind>(), Ok(kind));
    }
    assert!("qwen".parse::<AgentKind>().unwrap_err().to_string().contains("claude, codex"));
}

#[test]
fn each_program_is_asked_in_its_own_words() {
    for (kind, argv) in [
        (
            AgentKind::Claude,
            "claude -p --output-format stream-json --verbose --include-partial-messages --session-id s-1 --model m --effort high",
        ),
        (AgentKind::Codex, "codex exec --json -s workspace-write -m m -c model_reasoning_effort=\"high\" -"),
        (AgentKind::Pi, "pi -p --mode json --model m --thinking high"),
        (AgentKind::Opencode, "opencode run --format json -m m --variant high"),
        (AgentKind::Gemini, "gemini -o stream-json -m m"),
        (AgentKind::Copilot, "copilot --output-format json --no-auto-update --model m --reasoning-effort high"),
    ] {
        let spec = asked(kind, &base()).unwrap();
        assert_eq!(spec.argv.join(" "), argv);
        assert_eq!(spec.prompt, PromptBy::Stdin);
        let bare = asked(kind, &Ask { model: None, effort: None, ..base() }).unwrap();
        assert!(!bare.argv.iter().any(|word| word == "m" || word.contains("high")), "{bare:?}");
    }
}

#[test]
fn nothing_skips_permissions_unless_it_is_asked_for() {
    let skips = ["dangerously", "-y", "--skip", "--allow-all", "allow"];
    for kind in AgentKind::ALL.into_iter().filter(|kind| *kind != AgentKind::Command) {
        let all = |spec: &CommandSpec| {
            let values = spec.set.iter().map(|(_, value)| value.clone());
            spec.argv.iter().cloned().chain(values).collect::<Vec<_>>().join(" ")
        };
        let safe = all(&asked(kind, &base()).unwrap());
        let skip = all(&asked(kind, &Ask { permissions: Permissions::Skip, ..base() }).unwrap());
        assert!(!skips.iter().any(|word| safe.split(' ').any(|own| own.contains(word))), "{safe}");
        assert_eq!(safe == skip, kind == AgentKind::Pi, "{skip}");
    }
}

#[test]
fn the_program_can_be_another_and_further_arguments_come_last() {
    let program = words(&["/opt/node", "cli.js"]);
    let extra = words(&["--foo", "a b"]);
    let spec = asked(AgentKind::Codex, &Ask { program: &program, extra: &extra, ..base() }).unwrap();
    assert_eq!(spec.argv[..3], words(&["/opt/node", "cli.js", "exec"]));
    assert_eq!(spec.argv[spec.argv.len() - 3..], words(&["--foo", "a b", "-"]));
}

#[test]
fn caps_go_to_the_programs_that_take_them() {
    let caps = CallCaps { turns: Some(7), usd_micro: Some(1_050_000) };
    let spec = asked(AgentKind::Claude, &Ask { caps, ..base() }).unwrap();
    assert!(spec.argv.join(" ").ends_with("--max-turns 7 --max-budget-usd 1.050000"));
    let spec = asked(AgentKind::Gemini, &Ask { caps, ..base() }).unwrap();
    assert!(spec.files[0].1.contains("\"maxSessionTurns\":7"), "{:?}", spec.files);
    for kind in AgentKind::ALL {
        let known = kind.adapter().capabilities();
        let takes = asked(kind, &Ask { caps, ..base() }).ok() != asked(kind, &base()).ok();
        assert_eq!(takes, known.caps_turns || known.caps_cost, "{kind}");
    }
}

#[test]
fn an_effort_in_the_environment_that_beats_the_flag_is_taken_away() {
    let spec = asked(AgentKind::Claude, &base()).unwrap();
    assert!(spec.unset.contains(&"CLAUDE_CODE_EFFORT_LEVEL"));
    let template = words(&["claude", "-p"]);
    let spec = asked(AgentKind::Claude, &Ask { template: Some(&template), ..base() }).unwrap();
    assert!(spec.unset.contains(&"CLAUDE_CODE_EFFORT_LEVEL"), "a template changes nothing about that");
}

#[test]
fn gemini_is_asked_by_settings_in_a_home_of_the_round() {
    let spec = asked(AgentKind::Gemini, &Ask { effort: Some("512"), ..base() }).unwrap();
    let [(path, text)] = &spec.files[..] else { panic!("{spec:?}") };
    let home = Path::new("/state/rounds/001/gemini-home");
    assert_eq!(*path, home.join(".gemini/settings.json"));
    assert!(text.contains("\"thinkingBudget\":512") && text.contains("\"model\":\"m\""), "{text}");
    assert_eq!(spec.set, [("GEMINI_CLI_HOME".to_owned(), home.to_string_lossy().into_owned())]);
    assert!(spec.links.contains(&(home.join(".gemini/oauth_creds.json"), "/h/.gemini/oauth_creds.json".into())));
    let word = asked(AgentKind::Gemini, &base()).unwrap();
    assert!(word.files[0].1.contains("\"thinkingLevel\":\"HIGH\""));
    assert!(matches!(asked(AgentKind::Gemini, &Ask { effort: Some("ultra"), ..base() }), Err(AskError::Effort(_))));
    assert!(matches!(asked(AgentKind::Gemini, &Ask { model: None, ..base() }), Err(AskError::Effort(_))));
    let bare = asked(AgentKind::Gemini, &Ask { effort: None, ..base() }).unwrap();
    assert!(bare.set.is_empty() && bare.files.is_empty() && bare.links.is_empty(), "{bare:?}");
}

#[test]
fn geminis_settings_are_added_to_and_never_lost() {
    let file = |path: &Path| {
        let text = r#"{
            // "no": "setting",
            "ui": {"theme": "a // b \"/* c */"}, /* "neither": 1 */
            "modelConfigs": {"customOverrides": [{"match": {"model": "x"}}]}
        }"#;
        (path == Path::new("/h/.gemini/settings.json")).then(|| text.to_owned())
    };
    let spec = asked(AgentKind::Gemini, &Ask { effort: Some("512"), file: &file, ..base() }).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&spec.files[0].1).unwrap();
    assert_eq!(settings["ui"]["theme"], "a // b \"/* c */");
    assert_eq!(settings.as_object().unwrap().len(), 2);
    let all = settings["modelConfigs"]["customOverrides"].as_array().unwrap();
    assert_eq!((all.len(), &all[0]["match"]["model"], &all[1]["match"]["model"]), (2, &"x".into(), &"m".into()));
    for broken in ["[]", "{", "{\"modelConfigs\": 1}", "{\"modelConfigs\": {\"customOverrides\": 1}}"] {
        let file = |_: &Path| Some(broken.to_owned());
        let refused = asked(AgentKind::Gemini, &Ask { file: &file, ..base() });
        assert!(matches!(refused, Err(AskError::Settings(..))), "{broken}: {refused:?}");
    }
}

#[test]
fn a_file_is_known_by_its_place_and_by_its_beginning() {
    let follow = |begins: Option<&str>| Follow {
        folder: "/f".into(),
        depth: 1,
        name_contains: "s-1".to_owned(),
        extension: "jsonl",
        fresh: false,
        begins: begins.map(str::to_owned),
    };
    let names = |path: &str| follow(None).names(Path::new(path));
    assert!(names("/f/x-s-1.jsonl") && names("/f/s-1/x.jsonl"));
    for other in ["/f/x.jsonl", "/f/s-1.json", "/f/a/s-1/x.jsonl", "/g/s-1.jsonl", "/s-1/x.jsonl"] {
        assert!(!names(other), "{other}");
    }
    assert_eq!(follow(None).begins(b""), Some(true));
    let begins = |bytes: &[u8]| follow(Some("\"id\":1")).begins(bytes);
    assert_eq!(begins(b"{\"a\":0"), None);
    assert_eq!(begins(b"{\"a\":0,\"id\":1"), Some(true));
    assert_eq!(begins(b"{\"a\":0}\n{\"id\":1}\n"), Some(false));
}

#[test]
fn opencode_is_asked_for_what_its_subagents_did() {
    let parts = [Arc::from("ses_1")];
    let after = |kind: AgentKind, ask: &Ask<'_>| kind.adapter().afterwards(ask, &parts);
    let specs = after(AgentKind::Opencode, &base());
    assert_eq!(specs.iter().map(|spec| spec.argv.join(" ")).collect::<Vec<_>>(), ["opencode export ses_1"]);
    assert!(after(AgentKind::Claude, &base()).is_empty());
    assert!(after(AgentKind::Opencode, &Ask { template: Some(&words(&["x"])), ..base() }).is_empty());
}

#[test]
fn opencode_keeps_the_settings_that_the_environment_has() {
    let held = |name: &str| (name == "OPENCODE_CONFIG_CONTENT").then(|| "{\"model\":\"x\"}".to_owned());
    let skip = |home: &dyn Fn(&str) -> Option<String>| {
        asked(AgentKind::Opencode, &Ask { home, permissions: Permissions::Skip, ..base() })
    };
    let spec = skip(&held).unwrap();
    let (_, content) = spec.set.iter().find(|(name, _)| name == "OPENCODE_CONFIG_CONTENT").unwrap();
    assert!(content.contains("\"model\":\"x\"") && content.contains("\"permission\":\"allow\""), "{content}");
    let broken = |_: &str| Some("{".to_owned());
    assert!(matches!(skip(&broken), Err(AskError::Environment(..))));
}

#[test]
fn a_template_is_filled_word_by_word_and_never_twice() {
    let template = words(&["my agent", "--m={model}", "{effort}", "{{session}}", "{other}", "$(x) `y`"]);
    let spec =
        asked(AgentKind::Command, &Ask { template: Some(&template), model: Some("{effort}"), ..base() }).unwrap();
    assert_eq!(spec.argv, words(&["my agent", "--m={effort}", "high", "{s-1}", "{other}", "$(x) `y`"]));
    let asked_for = [("MODEL", "{effort}"), ("EFFORT", "high"), ("SESSION", "s-1")];
    assert_eq!(spec.set, asked_for.map(|(name, value)| (format!("FLYBALL_ASKED_{name}"), value.to_owned())));
    let by_file = words(&["agent", "@{prompt_file}"]);
    let spec = asked(AgentKind::Command, &Ask { template: Some(&by_file), ..base() }).unwrap();
    assert_eq!(spec.prompt, PromptBy::File("/state/rounds/001/prompt.md".into()));
    assert_eq!(spec.argv[1], "@/state/rounds/001/prompt.md");
    let missing = asked(AgentKind::Command, &Ask { template: Some(&template), effort: None, ..base() });
    assert_eq!(missing, Err(AskError::Missing("effort")));
    assert_eq!(asked(AgentKind::Command, &base()), Err(AskError::NoCommand));
    let program = words(&["sh", "loop.sh"]);
    assert_eq!(asked(AgentKind::Command, &Ask { program: &program, ..base() }).unwrap().argv, program);
}

#[test]
fn files_are_looked_for_where_the_program_writes_them() {
    let follows = |kind: AgentKind, project: &str, (name, value): (&str, &str), told: Option<&str>| {
        let home = |asked: &str| if asked == name { Some(value.to_owned()) } else { at_home(asked) };
        kind.adapter().follows(&Ask { project: Path::new(project), home: &home, ..base() }, told)
    };
    let none = ("", "");
    let of =
        |follow: &Follow| (follow.folder.to_string_lossy().into_owned(), follow.depth, follow.name_contains.clone());
    let found = follows(AgentKind::Claude, "/code/my.app", none, None);
    assert_eq!(
        found.iter().map(of).collect::<Vec<_>>(),
        [
            ("/h/.claude/projects/-code-my-app".to_owned(), 0, "s-1".to_owned()),
            ("/h/.claude/projects/-code-my-app/s-1/subagents".to_owned(), 0, "agent-".to_owned()),
        ]
    );
    let moved = follows(AgentKind::Claude, "/code/\u{fc} b", ("CLAUDE_CONFIG_DIR", "/c"), None);
    assert_eq!(moved.iter().map(of).collect::<Vec<_>>(), [("/c/projects".to_owned(), 3, "s-1".to_owned())]);
    assert_eq!(follows(AgentKind::Codex, "/p", none, None), []);
    let codex = follows(AgentKind::Codex, "/p", ("CODEX_HOME", "/x"), Some("thread"));
    assert_eq!(
        codex.iter().map(of).collect::<Vec<_>>(),
        ["thread", "rollout-"].map(|name| ("/x/sessions".to_owned(), 3, name.to_owned()))
    );
    let gemini = |model| Ask { model, effort: model, ..base() };
    let gemini = |model, told| AgentKind::Gemini.adapter().follows(&gemini(model), Some(told));
    let below = |home: &str| [(format!("{home}/.gemini/tmp"), 3, "fc64a787".to_owned())];
    let own = "/state/rounds/001/gemini-home";
    assert_eq!(gemini(None, "fc64a787-70c7-43da").iter().map(of).collect::<Vec<_>>(), below("/h"));
    assert_eq!(gemini(Some("m"), "fc64a787-70c7-43da").iter().map(of).collect::<Vec<_>>(), below(own));
    let copilot = |told| follows(AgentKind::Copilot, "/p", none, told);
    assert_eq!((copilot(None)[0].fresh, copilot(Some("id"))[0].fresh), (true, false));
    assert_eq!(copilot(Some("id"))[0].name_contains, "id");
}
