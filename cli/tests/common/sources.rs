//! The source files of crates, and what one of them names of another.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Calls `check` with the path and the text of every source file of `crates`.
pub fn for_sources(crates: &[&str], mut check: impl FnMut(&Path, &str)) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut folders: Vec<_> = crates.iter().map(|name| root.join(name).join("src")).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else if entry.path().extension().is_some_and(|ending| ending == "rs") {
                check(&entry.path(), &std::fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
}

/// Files of one crate by the path of their module (`["plots", "run"]`).
pub type Files = BTreeMap<Vec<String>, File>;

/// What is read of a source file.
#[derive(Default)]
pub struct File {
    /// Names of items other than modules.
    items: BTreeSet<String>,
    /// Imported paths by name, a glob by the name `*`, and whether they are only for this module.
    imports: Vec<(String, Vec<String>, bool)>,
    /// Paths in code, with whether they stand in a list of kinds: a constant or a call of a macro between items.
    paths: BTreeSet<(Vec<String>, bool)>,
}

/// Reads the files of a crate.
pub fn files(name: &str) -> Files {
    let mut files = Files::new();
    for_sources(&[name], |path, text| {
        let path = path.display().to_string();
        let path = path.rsplit_once(&format!("{name}/src/")).unwrap().1;
        files.insert(module_of(path), File::read(text));
    });
    files
}

/// The module of a path below `src`.
pub fn module_of(path: &str) -> Vec<String> {
    let mut module: Vec<_> = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        module.pop();
    }
    module
}

/// The words of Rust code: names, `::`, and single signs; without comments, texts and characters.
fn words(code: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let taken = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("r\"") || rest.starts_with("r#\"") {
            let end = if rest.starts_with("r#") { "\"#" } else { "\"" };
            3 + rest[3..].find(end).unwrap() + end.len()
        } else if first == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            end.unwrap() + 2
        } else if first == '\'' && (rest[1..].starts_with('\\') || rest[1..].chars().nth(1) == Some('\'')) {
            let behind = rest[1..].strip_prefix('\\').unwrap_or(&rest[1..]);
            let body = rest.len() - behind.len() + behind.chars().next().map_or(0, char::len_utf8);
            body + rest[body..].find('\'').unwrap() + 1
        } else if first == '\'' {
            // A lifetime.
            1 + rest[1..].find(|c| !is_name(c)).unwrap_or(rest.len() - 1)
        } else if is_name(first) {
            let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            words.push(rest[..end].to_owned());
            end
        } else if rest.starts_with("::") {
            words.push("::".to_owned());
            2
        } else {
            if !first.is_whitespace() {
                words.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[taken..];
    }
    words
}

fn starts_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Where the block or statement that begins at `from` ends: behind its `;`, or behind its last bracket.
fn end_of_item(words: &[String], from: usize) -> usize {
    let mut depth = 0;
    for (at, word) in words.iter().enumerate().skip(from) {
        match word.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 && matches!(word.as_str(), ";" | "}") {
            return at + 1;
        }
    }
    words.len()
}

impl File {
    /// Reads the text of a file, without its tests.
    pub fn read(text: &str) -> Self {
        let words = &words(text)[..];
        let mut file = Self::default();
        let word = |at: usize| words.get(at).map_or("", String::as_str);
        let (mut at, mut depth, mut list_ends, mut inline_ends) = (0, 0, 0, 0);
        while at < words.len() {
            if words[at..].iter().zip(["#", "[", "cfg", "(", "test", ")", "]"]).all(|(a, b)| a == b) {
                at = end_of_item(words, at + 7);
                continue;
            }
            let before = if at == 0 { "" } else { word(at - 1) };
            match word(at) {
                "{" => depth += 1,
                "}" => depth -= 1,
                // Of the module that is written in this file.
                "super" if at < inline_ends => {}
                "use" if at < inline_ends && word(at + 1) == "super" => at = end_of_item(words, at) - 1,
                "use" => {
                    let end = end_of_item(words, at);
                    file.import(&words[at + 1..end - 1], before != "pub" && before != ")");
                    at = end;
                    continue;
                }
                "struct" | "enum" | "union" | "trait" => {
                    file.items.insert(word(at + 1).to_owned());
                }
                "fn" | "type" | "const" | "static" if depth == 0 => {
                    file.items.insert(word(at + 1).to_owned());
                    if matches!(word(at), "const" | "static") && word(at + 1) != "fn" {
                        list_ends = end_of_item(words, at);
                    }
                }
                "pub" if word(at + 1) == "(" => at += 3,
                "mod" => {
                    if word(at + 2) == "{" {
                        inline_ends = end_of_item(words, at);
                    }
                    at += 1;
                }
                "macro_rules" => {
                    file.items.insert(word(at + 2).to_owned());
                }
                name if starts_name(name) && before != "." && before != "::" => {
                    if depth == 0 && word(at + 1) == "!" {
                        list_ends = end_of_item(words, at);
                    }
                    let mut path = vec![name.to_owned()];
                    while word(at + 1) == "::" && starts_name(word(at + 2)) {
                        path.push(word(at + 2).to_owned());
                        at += 2;
                    }
                    // A lone name in lower case can be a variable.
                    let is_item =
                        path.len() > 1 || name.starts_with(char::is_uppercase) || "(!".contains(word(at + 1));
                    if is_item && (before != "$" || name == "crate") {
                        file.paths.insert((path, at < list_ends));
                    }
                }
                _ => {}
            }
            at += 1;
        }
        file
    }

    /// Reads the tree behind `use`.
    fn import(&mut self, words: &[String], is_private: bool) {
        let mut prefixes: Vec<Vec<String>> = vec![vec![]];
        let mut path: Vec<String> = vec![];
        let mut words = words.iter().map(String::as_str).chain([","]).peekable();
        while let Some(word) = words.next() {
            match word {
                "{" => prefixes.push(std::mem::take(&mut path)),
                "as" => {
                    let name = words.next().unwrap().to_owned();
                    let all = prefixes.concat().into_iter().chain(std::mem::take(&mut path)).collect();
                    self.imports.push((name, all, is_private));
                }
                "," | "}" => {
                    if let Some(name) = path.last().cloned() {
                        let mut all = prefixes.concat();
                        all.append(&mut path);
                        if name == "self" || name == "*" {
                            all.pop();
                        }
                        let name = if name == "self" { all.last().unwrap().clone() } else { name };
                        self.imports.push((name, all, is_private));
                    }
                    if word == "}" {
                        prefixes.pop();
                    }
                }
                "::" => {}
                name => path.push(name.to_owned()),
            }
        }
    }
}

/// The files that the file of module `from` names: for each, whether it names it outside of lists of kinds.
pub fn named(files: &Files, from: &[String]) -> BTreeMap<Vec<String>, bool> {
    let file = &files[from];
    let mut named = BTreeMap::new();
    let private =
        file.imports.iter().filter(|(.., is_private)| *is_private).map(|(_, path, _)| (path, false));
    for (path, is_listed) in file.paths.iter().map(|(path, is_listed)| (path, *is_listed)).chain(private) {
        if let Some(module) = resolve(files, from, path, 0).filter(|module| module != from) {
            *named.entry(module).or_default() |= !is_listed;
        }
    }
    named
}

/// The module whose file defines what `path` names in `module`; `None` if it is not of this crate.
fn resolve(files: &Files, module: &[String], path: &[String], depth: usize) -> Option<Vec<String>> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => member(files, &[], rest, depth),
        "self" => member(files, module, rest, depth),
        "super" => resolve(files, &module[..module.len() - 1], &[&["self".to_owned()], rest].concat(), depth),
        _ => member(files, module, path, depth),
    }
}

/// The module whose file defines the member `path` of `module`; `None` if `module` imports it from another crate.
fn member(files: &Files, module: &[String], path: &[String], depth: usize) -> Option<Vec<String>> {
    let Some((first, rest)) = path.split_first() else { return Some(module.to_vec()) };
    if first == "super" {
        return resolve(files, module, path, depth);
    }
    let child = [module, std::slice::from_ref(first)].concat();
    if files.contains_key(&child) {
        return member(files, &child, rest, depth);
    }
    let file = files.get(module)?;
    // Imports can go in a circle.
    if file.items.contains(first) || depth > 8 {
        return Some(module.to_vec());
    }
    if let Some((_, imported, _)) = file.imports.iter().find(|(name, ..)| name == first) {
        let is_local = ["crate", "self", "super"].contains(&imported[0].as_str())
            || imported[0] != *first && defines(files, module, &imported[0]);
        return if is_local { resolve(files, module, &[imported, rest].concat(), depth + 1) } else { None };
    }
    let globs = file.imports.iter().filter(|(name, ..)| name == "*");
    let mut globs = globs.filter_map(|(_, of, _)| resolve(files, module, of, depth + 1));
    if let Some(of) = globs.find(|of| of != module && defines(files, of, first)) {
        return member(files, &of, path, depth + 1);
    }
    // What a macro passes on.
    let is_child = |child: &&Vec<String>| child.len() == module.len() + 1 && child.starts_with(module);
    let is_type = first.starts_with(char::is_uppercase) && first.contains(char::is_lowercase);
    let listed = files.keys().filter(is_child).find(|child| is_type && files[*child].items.contains(first));
    Some(listed.map_or(module.to_vec(), Clone::clone))
}

/// Whether `module` has a member `name`.
fn defines(files: &Files, module: &[String], name: &String) -> bool {
    let child = [module, std::slice::from_ref(name)].concat();
    let file = &files[module];
    let is_child = |child: &&Vec<String>| child.len() == module.len() + 1 && child.starts_with(module);
    files.contains_key(&child)
        || file.items.contains(name)
        || file.imports.iter().any(|(imported, ..)| imported == name)
        || files.keys().filter(is_child).any(|child| files[child].items.contains(name))
}
