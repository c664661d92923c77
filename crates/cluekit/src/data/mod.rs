//! Data: what is in a dataset, where it comes from, and how its values become numbers.

mod calendar;
pub mod catalogue;
mod constraints;
#[cfg(feature = "files")]
mod content;
mod dataset;
mod directory;
mod encoding;
#[cfg(feature = "fetch")]
pub mod fetch;
#[cfg(feature = "files")]
mod gaps;
#[cfg(feature = "files")]
mod idx;
#[cfg(feature = "files")]
mod infer;
mod meaning;
#[cfg(feature = "files")]
mod memory;
mod missing;
mod names;
#[cfg(feature = "files")]
pub mod npy;
mod one_hot;
mod predicate;
mod provider;
#[cfg(feature = "files")]
mod raw;
mod reading;
mod scaling;
mod schema;
mod schema_toml;
pub mod source;
#[cfg(feature = "files")]
mod split;
mod tokens;

pub use calendar::Calendar;
pub use constraints::{Bounds, Constraints, End, Halfspace, Loosened, Range, Relation, Transition};
pub use dataset::{Chosen, Dataset, Samples, Source, Targets, sha256_hex};
pub(crate) use dataset::{sha256_of, spread_evenly};
pub use directory::DataDir;
pub use encoding::{Column, ColumnKind, Value};
pub(crate) use encoding::{closest, listed};
pub use meaning::{Meaning, TaskKind};
#[cfg(feature = "files")]
pub use memory::{Table, Values};
pub(crate) use missing::MISSING;
pub use missing::Missing;
pub use names::{PartNames, RejectedRow, RowName, RowNames};
pub use one_hot::one_hot_groups;
pub use predicate::Predicate;
pub use provider::Provider;
pub use reading::{Delimiter, Reading};
pub use schema::{Feature, Image, Kind, Scaling, Schema, Target, Task};
#[cfg(feature = "files")]
pub use source::is_table;
#[cfg(feature = "files")]
pub(crate) use source::{Answered, read_answered};
pub use source::{FileRows, Part, Request, RowRequest, load, load_some, read_file, read_rows};
