//! Data: what is in a dataset, where it comes from, and how its values become numbers.

pub mod catalogue;
mod constraints;
mod dataset;
mod directory;
mod encoding;
pub mod fetch;
mod idx;
mod infer;
pub mod npy;
mod predicate;
mod raw;
mod scaling;
mod schema;
mod schema_toml;
pub mod source;
mod split;
pub mod synbols;
mod tokens;

pub use constraints::{Bounds, Constraints, Halfspace, Range, Relation};
pub(crate) use dataset::sha256_hex;
pub use dataset::{Dataset, Samples, Source, Targets};
pub use directory::DataDir;
pub use encoding::{Column, ColumnKind, Value};
pub use predicate::Predicate;
pub use schema::{Feature, Image, Kind, Scaling, Schema, Target, Task};
pub use source::{Request, load, read_rows};
