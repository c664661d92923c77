//! What studies of one kind share of their settings, declared once.
//!
//! In a spec, shared settings and a study's own stand side by side in one table. A macro writes the shared ones into
//! each struct, since serde's `flatten` does not go with `deny_unknown_fields`: a misspelt setting would be reported as
//! a missing one, without the list of those that there are.

/// The paper's number of inputs.
pub(super) fn eight() -> usize {
    8
}

/// The paper's number of steps.
pub(super) fn thirty() -> usize {
    30
}

/// The paper's λ_x where distance counts.
pub(super) fn usual_lambda() -> f32 {
    0.03
}

/// Declares the settings of a study: those of its kind, which stands behind the colon, around its own.
macro_rules! settings {
    // Clues of the most uncertain inputs of one dataset, from one seed.
    ($(#[$meaning:meta])* pub struct $name:ident: Clues { $($own:tt)* }) => {
        settings! {
            $(#[$meaning])*
            pub struct $name: Sets of String {
                $($own)*
                /// Seed of the starts.
                #[serde(default)]
                pub seed: u64,
            }
        }
    };
    // Clues of the most uncertain inputs, of one set of models or of several.
    ($(#[$meaning:meta])* pub struct $name:ident: Sets of $models:ty { $($own:tt)* }) => {
        $(#[$meaning])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// The models.
            pub models: $models,
            /// How many of the most uncertain inputs.
            #[serde(default = "crate::study::settings::eight")]
            pub inputs: usize,
            /// Clues for each.
            pub count: usize,
            /// Steps of each search.
            #[serde(default = "crate::study::settings::thirty")]
            pub steps: usize,
            $($own)*
        }
    };
    // Clues of one input, some of them held apart.
    ($(#[$meaning:meta])* pub struct $name:ident: OneInput { $($own:tt)* }) => {
        $(#[$meaning])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// The models.
            pub models: String,
            /// Which of the most uncertain inputs, from 0.
            pub rank: usize,
            /// Number of clues for the input.
            pub count: usize,
            /// Steps of each search.
            #[serde(default = "crate::study::settings::thirty")]
            pub steps: usize,
            /// Radius δ of the ball.
            pub delta: f32,
            /// Weight λ_D of the diversity.
            pub diversity: f32,
            $($own)*
            /// Seed of the starts.
            #[serde(default)]
            pub seed: u64,
        }
    };
    // Methods that are given the same inputs.
    ($(#[$meaning:meta])* pub struct $name:ident: Contest { $($own:tt)* }) => {
        $(#[$meaning])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// The models.
            pub models: String,
            /// The methods.
            pub methods: Vec<String>,
            /// Test inputs above this uncertainty.
            pub above: f32,
            /// λ_x of the cost.
            #[serde(default = "crate::study::settings::usual_lambda")]
            pub lambda_x: f32,
            $($own)*
        }
    };
}

pub(super) use settings;
