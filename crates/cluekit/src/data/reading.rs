//! How a file is to be read, where the user says it instead of leaving it to be recognised.

use serde::{Deserialize, Serialize};

crate::named! {
    "delimiter", "a delimiter";
    /// What stands between the cells of a text.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Delimiter {
        /// A comma, as in most CSV files.
        Comma = "comma",
        /// A semicolon, as where the comma marks decimals.
        Semicolon = "semicolon",
        /// A tabulator.
        Tab = "tab",
        /// A vertical bar.
        Pipe = "pipe",
        /// Any run of blanks.
        Space = "space",
    }
}

impl Delimiter {
    /// The character itself.
    #[cfg(feature = "files")]
    pub(crate) fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
            Self::Pipe => b'|',
            Self::Space => b' ',
        }
    }
}

/// What the user says about how a file is read; whatever is not said is recognised from the contents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reading {
    /// Whether the first row of a table names the columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// What stands between the cells of a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<Delimiter>,
    /// Whether numbers that can be read in two ways, such as `1,500`, have a decimal comma.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub decimal_comma: bool,
    /// Name of the sheet of a workbook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    /// Path of the file of labels that belongs to a file of images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<String>,
    /// Names of the classes of images, in the order of the numbers that are their labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub class_names: Vec<String>,
}

impl Reading {
    /// Whether nothing is said.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Request;

    #[test]
    fn a_request_that_says_nothing_of_reading_is_written_as_it_always_was() {
        let request = Request::new("bank.csv");
        let text = toml::to_string(&request).unwrap();
        assert_eq!(text, "name = \"bank.csv\"\ntest_share = 0.1\nseed = 0\n");
        assert_eq!(toml::from_str::<Request>(&text).unwrap(), request);
    }

    #[test]
    fn what_is_said_is_a_table_of_its_own_and_comes_back() {
        let reading = Reading { header: Some(false), delimiter: Some(Delimiter::Space), ..Reading::default() };
        let request = Request { reading, ..Request::new("german.data") };
        let text = toml::to_string(&request).unwrap();
        assert!(text.ends_with("\n[reading]\nheader = false\ndelimiter = \"space\"\n"), "{text}");
        assert_eq!(toml::from_str::<Request>(&text).unwrap(), request);
        assert!(toml::from_str::<Reading>("decimal = ','").is_err());
    }
}
