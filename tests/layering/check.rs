//! The checker: one file's text in, its faults and the modules that it declares out.

use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ItemExternCrate, ItemMod, ItemUse, Lit, Macro, Path, Token, UseTree};

use crate::rules::{DEPENDENCIES, Here, is_layer};

/// Where a file's module stands.
pub(crate) struct Place {
    /// Its path from the root of the crate.
    pub(crate) module: Vec<String>,
    /// The binary, which sees the library from outside.
    pub(crate) main: bool,
    /// Compiled for tests alone.
    pub(crate) test: bool,
}

/// A `mod name;` line.
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) test: bool,
}

/// What was found in a file.
pub(crate) struct Found {
    pub(crate) faults: Vec<String>,
    pub(crate) declared: Vec<Declared>,
}

/// Checks the text of one file.
pub(crate) fn check(text: &str, place: &Place) -> Result<Found, syn::Error> {
    let file = syn::parse_file(text)?;
    let mut walk = Walk {
        module: place.module.clone(),
        main: place.main,
        test: place.test,
        found: Found { faults: Vec::new(), declared: Vec::new() },
    };
    walk.visit_file(&file);
    Ok(walk.found)
}

struct Walk {
    module: Vec<String>,
    main: bool,
    test: bool,
    found: Found,
}

impl Walk {
    fn here(&self) -> Here<'_> {
        Here { module: &self.module, test: self.test }
    }

    fn fault(&mut self, fault: Option<String>) {
        self.found.faults.extend(fault);
    }

    /// Looks at one path, as written.
    fn path(&mut self, path: &[String]) {
        let Some(first) = path.first() else { return };
        if self.main {
            let strange = first == "flyball" && path.get(1).is_some_and(|second| second != "cli");
            self.fault(strange.then(|| format!("the binary uses {}", path.join("::"))));
            return;
        }
        let fault = match first.as_str() {
            "crate" | "self" | "super" => self.here().refuses_module(&self.absolute(path)),
            _ => self.here().refuses_foreign(path),
        };
        self.fault(fault);
    }

    /// A path that begins with `crate`, `self` or `super`, from the root of the crate.
    fn absolute(&self, path: &[String]) -> Vec<String> {
        let mut base = if path[0] == "crate" { Vec::new() } else { self.module.clone() };
        for part in path {
            match part.as_str() {
                "crate" | "self" => {}
                "super" => drop(base.pop()),
                name => base.push(name.into()),
            }
        }
        base
    }

    fn tree(&mut self, stem: &mut Vec<String>, tree: &UseTree) {
        let leaf = match tree {
            UseTree::Path(path) => {
                stem.push(path.ident.to_string());
                self.tree(stem, &path.tree);
                stem.pop();
                return;
            }
            UseTree::Group(group) => {
                for item in &group.items {
                    self.tree(stem, item);
                }
                return;
            }
            UseTree::Name(name) => name.ident.to_string(),
            UseTree::Rename(rename) => rename.ident.to_string(),
            UseTree::Glob(_) => "*".into(),
        };
        stem.push(leaf);
        self.path(stem);
        stem.pop();
    }

    /// What can be told of tokens that are no list of expressions: paths, floats by name or by their dot.
    fn tokens(&mut self, text: &str) {
        let words = words(text);
        for path in &words {
            if path.len() > 1 && (DEPENDENCIES.contains(&path[0].as_str()) || ROOTS.contains(&path[0].as_str())) {
                self.path(path);
            }
            if let [word] = path.as_slice() {
                self.float(word);
            }
        }
    }

    fn float(&mut self, word: &str) {
        let number = word.starts_with(|first: char| first.is_ascii_digit());
        let float = word == "f32" || word == "f64" || (number && word.contains('.') && !word.contains(".."));
        if float && self.here().refuses_floats() {
            self.fault(Some(format!("{} has the float {word}", self.module.join("::"))));
        }
    }
}

/// What a path that leaves its module may begin with, beside the name of a dependency.
const ROOTS: &[&str] = &["crate", "self", "super", "std", "flyball"];

/// Words of printed tokens, joined where `::` stands between them; strings are left out.
fn words(text: &str) -> Vec<Vec<String>> {
    let code: String = text.split('"').step_by(2).collect::<Vec<_>>().join(" ");
    let code = code.replace(" :: ", "::").replace(":: ", "::").replace(" ::", "::");
    let part = |c: char| !(c.is_alphanumeric() || c == '_' || c == ':' || c == '.');
    code.split(part)
        .map(|word| word.split("::").filter(|word| !word.is_empty()).map(String::from).collect())
        .filter(|word: &Vec<String>| !word.is_empty())
        .collect()
}

/// Whether an item is compiled for tests alone.
fn for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.parse_args::<Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

impl<'ast> Visit<'ast> for Walk {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let (name, outside) = (item.ident.to_string(), self.test);
        self.test |= for_tests(&item.attrs);
        if item.content.is_some() {
            self.module.push(name);
            visit::visit_item_mod(self, item);
            self.module.pop();
        } else {
            self.found.declared.push(Declared { name, test: self.test });
        }
        self.test = outside;
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.tree(&mut Vec::new(), &item.tree);
    }

    fn visit_item_extern_crate(&mut self, item: &'ast ItemExternCrate) {
        self.path(&[item.ident.to_string()]);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let parts: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        match parts.as_slice() {
            [one] => self.float(one),
            [first, ..] if first == "f32" || first == "f64" => self.float(first),
            [first, ..] if is_layer(first) => {}
            _ => self.path(&parts),
        }
        visit::visit_path(self, path);
    }

    fn visit_lit(&mut self, lit: &'ast Lit) {
        if let Lit::Float(float) = lit {
            self.float(&float.to_string());
        }
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        self.visit_path(&mac.path);
        let list = Punctuated::<Expr, Token![,]>::parse_terminated;
        match list.parse2(mac.tokens.clone()) {
            Ok(list) => list.iter().for_each(|expr| self.visit_expr(expr)),
            Err(_) => self.tokens(&mac.tokens.to_string()),
        }
    }
}
