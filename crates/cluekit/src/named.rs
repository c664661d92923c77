//! Choices with a name: an enum whose every variant is one row, `Variant = "name"`.
//!
//! The name is the same in TOML, in JSON, on the command line and in messages, and there is no second list that could
//! forget a variant.

/// Declares an enum of choices: `ALL`, `name()`, `Display`, `FromStr`, and serde's names.
///
/// First come the setting that a wrong name is reported for, and what it should have been.
///
/// ```
/// cluekit::named! {
///     "fruit", "a fruit";
///     /// What grows on trees.
///     #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
///     pub enum Fruit {
///         /// Sweet.
///         Apple = "apple",
///         /// Not so.
///         BitterOrange = "bitter-orange",
///     }
/// }
///
/// assert_eq!("bitter-orange".parse::<Fruit>().unwrap(), Fruit::BitterOrange);
/// assert_eq!(
///     "stone".parse::<Fruit>().unwrap_err().to_string(),
///     "setting `fruit`: `stone` is not a fruit; choose one of apple, bitter-orange"
/// );
/// ```
#[macro_export]
macro_rules! named {
    (
        $key:literal, $what:literal;
        $(#[$about:meta])*
        pub enum $type:ident { $($(#[$note:meta])* $variant:ident = $name:literal),+ $(,)? }
    ) => {
        $(#[$about])*
        pub enum $type { $($(#[$note])* #[serde(rename = $name)] $variant),+ }

        impl $type {
            /// All choices, in the order of their declaration.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Name of the choice in TOML and JSON, on the command line and in messages.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl ::std::str::FromStr for $type {
            type Err = $crate::Error;

            fn from_str(name: &str) -> $crate::Result<Self> {
                Self::ALL.into_iter().find(|choice| choice.name() == name).ok_or_else(|| {
                    let choices = Self::ALL.map(Self::name).join(", ");
                    $crate::Error::setting($key, format!("`{name}` is not {}; choose one of {choices}", $what))
                })
            }
        }
    };
}
