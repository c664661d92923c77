//! Global and amortised counterfactuals: one learned mapping for a whole group of uncertain inputs. [Ley2022, Alg. 2]
//!
//! ```text
//! groups ─► Fit ─► Mappers ─► proposals ─► search::Prepared ─► explanation
//! ```
//!
//! | noun | what it is |
//! |---|---|
//! | [`MapperKind`] | the kind of a mapper: `glam`, `clusters`, `neural`, … |
//! | [`MapperPlan`] | what to fit, and how |
//! | [`Fit`] | where mappers are fitted: models, rows, and what a counterfactual costs |
//! | [`Mapper`] | what was learned for one pair of groups, with what it was learned from |
//! | [`Mappers`] | the mappers of one kind for all pairs: they propose, check, are saved and loaded |

mod change;
mod choice;
mod encoded;
mod file;
mod fit;
mod groups;
mod kind;
mod mapper;
mod mappers;
mod plan;
mod points;
mod record;
mod thresholds;
#[cfg(test)]
mod toy;
pub mod translation;
mod written;

pub use change::GlobalChange;
pub use choice::{Ask, cheapest_first};
pub use encoded::Encoded;
pub use fit::Fit;
pub use groups::{Group, Members, Pair, Scheme};
pub use kind::MapperKind;
pub use kind::clusters::Clusters;
pub use kind::input_dbm::InputShift;
pub use kind::nearest::Nearest;
pub use kind::neural::{Neural, NeuralMap, NeuralPlan, most_probable};
pub use kind::reconstruction::Reconstruction;
pub use kind::scaled::{LENGTHS, Scaled};
pub use mapper::{Map, Mapper};
pub use mappers::{FittedUnder, Mappers};
pub use plan::{LAMBDAS_THETA, LearnFrom, MapperPlan};
pub use points::Points;
pub use thresholds::{Limit, Thresholds};
pub use written::{WrittenMembers, WrittenPair};
