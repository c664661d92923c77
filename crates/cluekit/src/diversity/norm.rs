//! How far apart two candidates are. [Ley2022, Table 1 leaves the distance open]

use serde::{Deserialize, Serialize};

crate::named! {
    "diversity_distance", "a distance between clues";
    /// The distances between candidates, for the metrics that compare pairs.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Norm {
        /// Euclidean distance, ‖p − q‖₂.
        #[default]
        L2 = "l2",
        /// Sum of absolute differences, ‖p − q‖₁.
        L1 = "l1",
    }
}
