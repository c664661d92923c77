//! Global and amortised counterfactuals: one learned mapping for a whole group of uncertain inputs. [Ley2022, Alg. 2]
//!
//! ```text
//! groups ─► fit (translation, neural, …) ─► Fitted ─► choice ─► proposals ─► search::Prepared ─► explanation
//! ```

mod change;
mod choice;
mod encoded;
mod fit;
mod groups;
mod mapper;
mod nearest;
mod neural;
mod record;
#[cfg(test)]
mod toy;
pub mod translation;

pub use change::GlobalChange;
pub use choice::{Ask, cheapest_first};
pub use encoded::Encoded;
pub use fit::{Fitted, Fitting, LAMBDAS_THETA, LearnFrom, Recipe, Terms, Workshop};
pub use groups::{Group, Limit, Members, Pair, Scheme, Thresholds};
pub use mapper::{LENGTHS, Mapper, Method};
pub use nearest::Points;
pub use neural::{Neural, NeuralPlan, most_probable};
