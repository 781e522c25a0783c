//! Seals, which prove that guardbit wrote a file and that nobody changed it since.
//!
//! A sealed file is a JSON object with `tool.name` = `guardbit` and, as its last key, `sha256`: the SHA-256 of the
//! whole file with the 64 digits of that value replaced by zeros.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Digest;

/// The placeholder for a seal before it is computed.
pub const UNSEALED: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The name of the sealing tool.
pub(crate) const TOOL: &str = "guardbit";

/// A file of a folder as its manifest lists it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileEntry {
    /// Path relative to the folder, with `/`.
    pub path: String,
    /// Digest of its bytes.
    pub sha256: Digest,
}

#[derive(Serialize)]
struct Sealed<'a, T> {
    #[serde(flatten)]
    content: &'a T,
    sha256: &'static str,
}

/// The keys that are read from a sealed file.
#[derive(Deserialize)]
struct Claim {
    tool: Tool,
    #[serde(default)]
    files: Vec<FileEntry>,
    sha256: Digest,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
}

/// Returns `content`, a JSON object with the key `tool`, as indented text with its seal.
///
/// # Errors
/// Errors of the serialization of the content.
pub fn seal(content: &impl Serialize) -> serde_json::Result<String> {
    let text = serde_json::to_string_pretty(&Sealed { content, sha256: UNSEALED })?;
    Ok(seal_text(&(text + "\n")))
}

/// Replaces the last [`UNSEALED`] of a text with the seal.
pub fn seal_text(text: &str) -> String {
    let digest = Digest::of_bytes(text.as_bytes()).to_string();
    match text.rfind(UNSEALED) {
        Some(at) => [&text[..at], &digest, &text[at + UNSEALED.len()..]].concat(),
        None => text.to_owned(),
    }
}

/// Returns the seal of a text, or `None` unless guardbit wrote the text and it is unchanged.
pub fn seal_of(text: &str) -> Option<Digest> {
    Some(claim(text)?.sha256)
}

/// Returns whether guardbit wrote a text and it is unchanged.
pub fn is_sealed(text: &str) -> bool {
    claim(text).is_some()
}

/// Returns whether a text names guardbit as its tool, sealed or not.
pub(crate) fn names_tool(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Named {
        tool: Tool,
    }
    serde_json::from_str::<Named>(text).is_ok_and(|named| named.tool.name == TOOL)
}

/// Returns the files that a sealed text lists. Paths that leave the folder are left out.
pub(crate) fn listed(text: &str) -> Option<Vec<(PathBuf, Digest)>> {
    let inside = |file: FileEntry| {
        let path = PathBuf::from(file.path);
        is_inside(&path).then_some((path, file.sha256))
    };
    Some(claim(text)?.files.into_iter().filter_map(inside).collect())
}

/// Returns whether a path stays within a folder that it is joined to.
fn is_inside(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

fn claim(text: &str) -> Option<Claim> {
    let claim: Claim = serde_json::from_str(text).ok()?;
    let digits = claim.sha256.to_string();
    let at = text.rfind(&digits)?;
    let unsealed = [&text[..at], UNSEALED, &text[at + digits.len()..]].concat();
    (claim.tool.name == TOOL && Digest::of_bytes(unsealed.as_bytes()) == claim.sha256).then_some(claim)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manifest() -> String {
        let files = [json!({ "path": "a/b.csv", "sha256": Digest::of_bytes(b"b") })];
        seal(&json!({ "tool": { "name": "guardbit", "version": "1" }, "files": files })).unwrap()
    }

    #[test]
    fn a_seal_holds() {
        let text = manifest();
        assert_eq!(listed(&text).unwrap(), [("a/b.csv".into(), Digest::of_bytes(b"b"))]);
        assert!(text.lines().nth_back(1).unwrap().starts_with("  \"sha256\": \""));
    }

    #[test]
    fn a_changed_text_is_not_sealed() {
        let text = manifest();
        for (from, to) in
            [("guardbit", "guardbat"), ("b.csv", "c.csv"), ("\n", "\r\n"), ("{", " {"), ("\"1\"", "\"2\"")]
        {
            assert!(!is_sealed(&text.replace(from, to)), "{from:?}");
        }
        for foreign in ["", "{}", "[", "{\"files\": [\"src/main.rs\"]}", &text.replace("files", "f")] {
            assert!(!is_sealed(foreign), "{foreign}");
        }
    }

    /// Another tool may use the same form of seal.
    #[test]
    fn a_seal_names_the_tool() {
        assert!(!is_sealed(&seal(&json!({ "tool": { "name": "other" } })).unwrap()));
    }

    #[test]
    fn only_paths_inside_are_listed() {
        for path in ["/etc/passwd", "../x", "a/../../x", "", ".", "./a"] {
            let files = [json!({ "path": path, "sha256": Digest::of_bytes(b"") })];
            let text = seal(&json!({ "tool": { "name": "guardbit" }, "files": files })).unwrap();
            assert_eq!(listed(&text), Some(Vec::new()), "{path}");
        }
    }
}
