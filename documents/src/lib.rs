//! Reads documents that users write in YAML or JSON: within limits, and with the place of every error.
//!
//! A kind of document has a [`Form`] and a type that serde reads. [`Document::read`] returns the value or a [`Fault`],
//! which states what is wrong, where, and what to do. Checks after reading use [`Document::fault`] with the [`Path`] of
//! the value.
//!
//! ```
//! use guardbit_documents::{Document, Form};
//!
//! #[derive(Debug, serde::Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Shelf {
//!     schema: u32,
//!     books: Vec<String>,
//! }
//!
//! const SHELF: Form = Form { name: "a shelf", most_bytes: 1 << 20 };
//!
//! let document = Document::new(SHELF, "shelf.yaml", "schema: 1\nbook: [atlas]\n")?;
//! let fault = document.read::<Shelf>().unwrap_err();
//! assert_eq!(fault.to_string(), "shelf.yaml:2:1: unknown key `book`");
//! assert_eq!(fault.help().unwrap(), "did you mean `books`? The keys of a shelf are schema, books");
//! # Ok::<(), guardbit_documents::Fault>(())
//! ```

mod aliases;
mod fault;
pub mod flow;
mod list;
mod nesting;
mod path;
mod place;

use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeSeed};

pub use fault::{Fault, Wrong, at_key, nearest};
pub use list::{List, elements};
pub use nesting::{NestingError, check_nesting};
pub use path::{Path, Step};
pub use place::FilePlace;

/// Kind of document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// Name with its article, for messages: `an accelerator`.
    pub name: &'static str,
    /// Greatest size of a text in bytes.
    pub most_bytes: u64,
}

/// Text of a document, which is within the limits.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    form: Form,
    file: &'a str,
    text: &'a str,
}

impl<'a> Document<'a> {
    /// Returns the document of a text. `file` is its name in messages.
    ///
    /// # Errors
    /// [`Wrong::Text`] if the text is too long or nested too deeply, or if aliases expand it too far.
    pub fn new(form: Form, file: &'a str, text: &'a str) -> Result<Self, Fault> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let document = Self { form, file, text };
        if text.len() as u64 > form.most_bytes {
            let message = format!("the text has {} bytes; expected at most {}", text.len(), form.most_bytes);
            let help = Some(format!("is it {}?", form.name));
            return Err(document.text_fault(message, help, None));
        }
        check_nesting(text).map_err(|error| {
            let help = Some(error.help().into());
            document.text_fault(error.to_string(), help, Some((error.line, error.column)))
        })?;
        aliases::check(text)
            .map_err(|(message, help, at)| document.text_fault(message, Some(help.into()), at))?;
        Ok(document)
    }

    /// Reads the document as a value.
    ///
    /// # Errors
    /// [`Fault`] if the text is not YAML, or does not describe a value of this type.
    pub fn read<T: Deserialize<'a>>(&self) -> Result<T, Fault> {
        self.read_with(PhantomData)
    }

    /// Reads the document with a seed.
    ///
    /// # Errors
    /// See [`Self::read`].
    pub fn read_with<S: DeserializeSeed<'a>>(&self, seed: S) -> Result<S::Value, Fault> {
        let read = seed.deserialize(serde_yaml::Deserializer::from_str(self.text));
        read.map_err(|error| self.explain(&error))
    }

    /// Returns an error about the value at `path`. `message` follows the path, e.g. `is empty`.
    pub fn fault(&self, path: Path, message: impl std::fmt::Display) -> Fault {
        self.wrong(path, Wrong::Value(format!(" {message}")))
    }

    /// Returns an error about the value at `path`.
    pub fn wrong(&self, path: Path, wrong: Wrong) -> Fault {
        let place = Some(Box::new(self.place(&path)));
        Fault { wrong, path, owner: self.form.name, place }
    }

    /// Returns the place of the value at `path`, or of the innermost map or list around it that exists.
    pub fn place(&self, path: &Path) -> FilePlace {
        FilePlace::of_path(self.file, &self.text.into(), path)
    }

    fn text_fault(&self, message: String, help: Option<String>, at: Option<(usize, usize)>) -> Fault {
        let place = at.map(|(line, column)| FilePlace::new(self.file, &self.text.into(), line, column));
        let wrong = Wrong::Text { message, help };
        Fault { wrong, path: Path::default(), owner: self.form.name, place: place.map(Box::new) }
    }

    /// Returns the error of the YAML library in plain words, with its path and place.
    fn explain(&self, error: &serde_yaml::Error) -> Fault {
        let message = error.to_string();
        let at = error.location().map(|at| (at.line(), at.column()));
        let Some((path, message)) = at.and_then(|at| fault::value_message(&message, at)) else {
            let help = Some(fault::NOT_YAML.into());
            return self.text_fault(fault::not_yaml(&message, at), help, at);
        };
        let (path, wrong) = fault::of_message(message, Path::indexed(path));
        let at = match &wrong {
            Wrong::DoubledKey => place::locate_second(self.text, &path).or(at),
            _ if fault::is_at_key(message) => place::locate(self.text, &path).or(at),
            _ => at,
        };
        let place = at.map(|(line, column)| FilePlace::new(self.file, &self.text.into(), line, column));
        Fault { wrong, path, owner: self.form.name, place: place.map(Box::new) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only errors are looked at")]
    struct Book {
        title: String,
        pages: Option<u32>,
        #[serde(default)]
        size: Option<[f32; 2]>,
        #[serde(default)]
        lent: bool,
        #[serde(default)]
        notes: BTreeMap<String, BTreeMap<String, i32>>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Place {
        Left,
        Right,
    }

    /// Map whose check after reading is about the value of `a` in `b`.
    #[derive(Debug)]
    struct Odd;

    impl<'de> Deserialize<'de> for Odd {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let map = BTreeMap::<String, BTreeMap<String, u32>>::deserialize(deserializer)?;
            match map["b"]["a"] {
                number if number % 2 == 1 => Ok(Self),
                number => {
                    Err(at_key("b", at_key::<serde::de::value::Error>("a", format!("{number} is even"))))
                }
            }
        }
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only errors are looked at")]
    struct Shelf {
        #[serde(default)]
        place: Option<Place>,
        #[serde(default)]
        odd: Option<Odd>,
        schema: u64,
        #[serde(default)]
        books: Option<List<Book, 3>>,
    }

    const SHELF: Form = Form { name: "a shelf", most_bytes: 1000 };

    fn fault(text: &str) -> Fault {
        let document = Document::new(SHELF, "shelf.yaml", text);
        document.and_then(|document| document.read::<Shelf>()).unwrap_err()
    }

    /// Message, marked part of the text, and help.
    /// Neither a tag nor a key with an index makes reading take long.
    #[test]
    fn texts_do_not_choose_how_long_they_take() {
        let (many, aliases) = ("0,".repeat(100), "*a,".repeat(200));
        for tag in ["", "!x "] {
            let text = format!("schema: 1\nbooks: {tag}[&a [{many}],{aliases}]\n");
            let fault = Document::new(SHELF, "shelf.yaml", &text).unwrap_err();
            assert!(fault.to_string().contains("aliases expand"), "{tag}: {fault}");
        }
        let unclear = "a: &a !!int x\nb: *a\n";
        let fault = Document::new(SHELF, "shelf.yaml", unclear).unwrap_err();
        assert_eq!(fault.help().as_deref(), Some(fault::NOT_YAML));
        let document = Document::new(SHELF, "shelf.yaml", "books: [1]\n").unwrap();
        let far = document.place(&Path::indexed("books[9999999999999].title"));
        assert_eq!((far.line, far.text.len()), (1, 11));
    }

    /// Errors of syntax with one position are not taken for errors about values.
    #[test]
    fn syntax_is_not_a_value() {
        for text in ["a: b: c\n", "a: *b\n", "a: @\n", "a: %\n", "a: - b\n"] {
            let document = Document::new(SHELF, "shelf.yaml", text).unwrap();
            let fault = document.read::<BTreeMap<String, String>>().unwrap_err();
            assert!(fault.to_string().contains("not YAML: "), "{text}: {fault}");
            assert_eq!(fault.help().as_deref(), Some("check quotes, brackets and indentation"), "{text}");
        }
    }

    #[test]
    fn every_fault_says_what_where_and_what_to_do() {
        let many = "{title: x}, ".repeat(4);
        let deep = format!("schema: 1\nx: {}{}", "[".repeat(200), "]".repeat(200));
        let book = |rest: &str| format!("schema: 1\nbooks:\n  - {{title: x, {rest}}}\n");
        for (text, message, marked, help) in [
            ("", "1:1: missing key `schema`", "", "begin with `schema: 1`"),
            ("- schema: 1\n", "1:1: the file is a list; it must be a map of keys", "- schema", ""),
            ("schema: x\n", "1:9: `schema` is \"x\"; it must be a whole number of at least 0", "x", ""),
            ("schema: 1\nplace: top\n", "2:8: `place` is `top`; it must be one of left, right", "top", ""),
            ("schema: ~\n", "1:9: `schema` is empty; it must be a whole number of at least 0", "~", ""),
            (
                "schema: 99999999999999999999\n",
                "1:9: `schema` is 99999999999999999999; it must be a whole number of at least 0",
                "99999999999999999999",
                "",
            ),
            ("schema: 1\nbooks: 3\n", "2:8: `books` is 3; it must be a list", "3", ""),
            ("schema: 1\nbooks:\n  - pages: 3\n", "3:5: missing key `books[0].title`", "pages", ""),
            (
                &book("page: 3"),
                "3:16: unknown key `books[0].page`",
                "page",
                "did you mean `pages`? The keys of `books[0]` are title, pages, size, lent, notes",
            ),
            (
                &book("colour: red"),
                "3:16: unknown key `books[0].colour`",
                "colour",
                "the keys of `books[0]` are title, pages, size, lent, notes",
            ),
            (&book("title: y"), "3:23: duplicate key `books[0].title`", "y", "keep one of the two"),
            (&book("size: [1]"), "3:22: `books[0].size` must be a list of 2", "[", ""),
            (&book("size: [1, y]"), "3:26: `books[0].size[1]` is \"y\"; it must be a number", "y", ""),
            (&book("lent: 1"), "3:22: `books[0].lent` is 1; it must be true or false", "1", ""),
            (
                &book("notes: {a b: {c d: {}}}"),
                "3:35: `books[0].notes.a b.c d` is a map; it must be a whole number of 32 bits",
                "{",
                "",
            ),
            (&format!("schema: 1\nbooks: [{many}]\n"), "2:8: `books`: more than 3 elements", "[", ""),
            (
                "schema: 1\nbooks: [\n",
                "3:1: not YAML: did not find expected node content, while parsing a flow node",
                "",
                "check quotes, brackets and indentation",
            ),
            (&deep, "2:1: unknown key `x`", "x", "the keys of a shelf are place, odd, schema, books"),
            (&"#".repeat(1001), "the text has 1001 bytes; expected at most 1000", "", "is it a shelf?"),
        ] {
            let fault = fault(text);
            let place = fault.place.as_ref();
            let at =
                place.map_or(String::new(), |place| format!("shelf.yaml:{}:{}: ", place.line, place.column));
            let shown = fault.to_string();
            assert_eq!(shown.strip_prefix("shelf.yaml:").unwrap_or(&shown), message, "{text}");
            assert!(shown.starts_with(&at), "{shown}");
            assert_eq!(place.map_or("", |place| &place.text[place.span.clone()]), marked, "{text}");
            assert_eq!(fault.help().unwrap_or_default(), help, "{text}");
        }
    }

    #[test]
    fn messages_are_short() {
        let long = "l".repeat(900);
        for text in [format!("schema: {long}"), format!("schema: 1\n{long}: 2\n"), format!("schema: [{long}")]
        {
            let fault = fault(&text);
            assert!(fault.to_string().len() < 600, "{fault}");
        }
    }
}
