//! Macros that turn rows into types, checks and rules.

use guardbit_documents::flow;
use serde::Serialize;

use super::key::{FileValue, Key};
use crate::load::{KeyPath, Violation, out_of_range};

/// What errors say of a key.
pub(crate) struct KeyRow {
    /// The section, empty for that of the accelerator itself; `*` stands for any element of a list.
    pub section: &'static str,
    pub name: &'static str,
    /// Stable code of its errors; empty for a key that holds others.
    pub code: &'static str,
    /// Least and greatest, where it is a whole number.
    pub range: Option<[i64; 2]>,
    /// What is allowed, after "it must be".
    pub allowed: fn() -> String,
    /// What to do, in few words.
    pub hint: &'static str,
    /// What it means, without range and default.
    pub about: &'static str,
    /// The range as text, where it has one.
    pub span: fn() -> Option<String>,
    /// The default as it is written in a file, where it is a value.
    pub default: fn() -> Option<String>,
    /// The type that serde reads.
    pub file: &'static str,
}

impl KeyRow {
    /// Returns what the key means, with its default.
    pub fn meaning(&self) -> String {
        let default = (self.default)().map_or(String::new(), |default| format!(" Default: {default}."));
        format!("{}{default}", self.about)
    }

    /// Returns what the key means, with its range and default.
    pub fn description(&self) -> String {
        let range = (self.span)().map_or(String::new(), |range| format!(" Range: {range}."));
        let default = self.meaning().split_off(self.about.len());
        format!("{}{range}{default}", self.about)
    }
}

/// Returns a value in the form of a file as text.
pub(super) fn text(value: impl Serialize) -> String {
    flow::text(&serde_yaml::to_value(value).unwrap_or_default())
}

/// Returns a value if it is in its range, or the default if it is missing.
pub(super) fn checked<K: Key>(
    section: &KeyPath,
    name: &str,
    value: Option<K::File>,
    default: K,
    range: <K::File as FileValue>::Range,
) -> Result<K, Violation> {
    let Some(value) = value else { return Ok(default) };
    K::checked(value, range).map_err(|found| out_of_range(section.join(name), found))
}

/// Makes of every section the type that serde reads, the checked type, and the rules of its errors.
///
/// `FILE, CHECKED {fields} {rows}`: the fields are those that follow from several keys. `CHECKED::of(FILE, place, fields)`
/// checks a section; `CHECKED::file` writes the keys that are fields themselves. Attributes of a row, and those in
/// `#[file(...)]`, are for the type that serde reads.
macro_rules! sections {
    ($(
        $(#[doc = $about:literal])*
        $(#[derive($($derive:ident),*)])?
        $(#[file($file_attribute:meta)])?
        $section:literal => $file:ident, $checked:ident {
            $($(#[doc = $field_doc:literal])* $field:ident: $field_ty:ty,)*
        } {
            $(
                $(#[$attribute:meta])*
                $key:ident:
                    $($ty:ty = ($default:expr) $(in $low:literal..=$high:literal)?,)?
                    $(as ($raw:ty) $(in $raw_low:literal..=$raw_high:literal)? $(is ($allowed:expr))? $(or $said:literal)?,)?
                    $(struct ($map:ty),)?
                    $code:literal, $hint:literal, $doc:literal;
            )*
        }
    )*) => {
        $(
            $(#[doc = $about])*
            #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
            #[serde(deny_unknown_fields)]
            $(#[$file_attribute])?
            pub(crate) struct $file {
                $(
                    #[doc = $doc]
                    $($(#[schemars(range(min = $low, max = $high))])?)?
                    $($(#[schemars(range(min = $raw_low, max = $raw_high))])?)?
                    $(#[$attribute])*
                    pub $key: Option<$(<$ty as $crate::keys::Key>::File)? $($raw)? $($map)?>,
                )*
            }

            $(#[doc = $about])*
            #[derive(Debug, Clone, PartialEq)]
            $(#[derive($($derive),*)])?
            pub struct $checked {
                $($(#[doc = $field_doc])* pub $field: $field_ty,)*
                $($(
                    #[doc = concat!($doc, " Default: `", stringify!($default), "`.")]
                    pub $key: $ty,
                )?)*
            }

            impl $checked {
                /// Checks the keys at `section`.
                #[allow(clippy::too_many_arguments, reason = "fields of a section")]
                pub(crate) fn of(
                    file: &$file,
                    section: &$crate::load::KeyPath,
                    $($field: $field_ty,)*
                ) -> Result<Self, $crate::load::Violation> {
                    Ok(Self {
                        $($(
                            $key: $crate::keys::section::checked::<$ty>(
                                section,
                                stringify!($key),
                                file.$key.clone(),
                                $default,
                                $crate::keys::section::bounds!($($low, $high)?),
                            )?,
                        )?)*
                        $($field,)*
                    })
                }

                /// Returns the section in the form of a file.
                pub(crate) fn file(&self) -> $file {
                    #[allow(clippy::needless_update, reason = "some sections have other keys")]
                    $file {
                        $($($key: Some(<$ty as $crate::keys::Key>::to_file(self.$key)),)?)*
                        ..$file::default()
                    }
                }
            }
        )*

        /// Every key of every section.
        pub(crate) const KEYS: &[$crate::keys::KeyRow] = &[$($(
            $crate::keys::KeyRow {
                section: $section,
                name: stringify!($key),
                code: $code,
                range: $crate::keys::section::range!($($($low, $high)?)? $($($raw_low, $raw_high)?)?),
                allowed: || $crate::keys::section::allowed!(
                    { $($($allowed)?)? $($crate::keys::section::nothing!($map))? }
                    { $(<$ty as $crate::keys::Key>::File)? $($raw)? }
                    { $($($low, $high)?)? $($($raw_low, $raw_high)?)? }
                ),
                hint: $hint,
                about: $doc,
                span: || $crate::keys::section::span!(
                    { $($($allowed)?)? $($crate::keys::section::nothing!($map))? }
                    { $(<$ty as $crate::keys::Key>::File)? $($raw)? }
                    { $($($low, $high)?)? $($($raw_low, $raw_high)?)? }
                ),
                default: || $crate::keys::section::default!(
                    { $(<$ty as $crate::keys::Key>::to_file($default))? } { $($($said)?)? }
                ),
                file: stringify!($file),
            },
        )*)*];
    };
}

/// The range of a row, or what stands for none.
macro_rules! bounds {
    () => {
        ()
    };
    ($low:literal, $high:literal) => {
        $low..=$high
    };
}

/// The same, for all types alike.
macro_rules! range {
    () => {
        None
    };
    ($low:literal, $high:literal) => {
        Some([$low, $high])
    };
}

/// What is said of a key that holds others.
macro_rules! nothing {
    ($map:ty) => {
        String::new()
    };
}

/// What is allowed: as the row says it, or as the type in a file does.
macro_rules! allowed {
    ({ $allowed:expr } { $($file:tt)* } { $($bounds:tt)* }) => {
        $allowed
    };
    ({} { $file:ty } { $($bounds:tt)* }) => {
        <$file as $crate::keys::FileValue>::allowed($crate::keys::section::bounds!($($bounds)*))
    };
}

/// The range as text, where the type in a file has one.
macro_rules! span {
    ({ $allowed:expr } { $($file:tt)* } { $($bounds:tt)* }) => {
        None
    };
    ({} { $file:ty } { $($bounds:tt)* }) => {
        <$file as $crate::keys::FileValue>::span($crate::keys::section::bounds!($($bounds)*))
    };
}

/// The default as text: of a key that is a field, or as the row says it.
macro_rules! default {
    ({} {}) => {
        None
    };
    ({} { $said:literal }) => {
        Some($said.to_owned())
    };
    ({ $default:expr } {}) => {
        Some($crate::keys::section::text($default))
    };
}

pub(super) use {allowed, bounds, default, nothing, range, sections, span};
