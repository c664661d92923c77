//! What every search obeys, whatever its method, starts, order, diversity and decoding, so that a new variant is tested
//! on arrival. Everything goes through the public interface, with models that are small, smooth and known.
#![allow(clippy::float_cmp, reason = "some laws hold to the last bit")]

mod amortise;
mod certificates;
mod constraints;
mod decoding;
mod descent;
mod diversity;
mod evolution;
mod foreign;
mod identities;
mod measures;
mod missing;
mod names;
mod portfolio;
mod refusals;
mod schedules;
mod searches;
mod starts;
mod stopping;
mod world;

use cluekit::data::{
    Constraints, Feature, Image, Kind, Missing, Samples, Scaling, Schema, Target, Targets, Task, Value,
};
use cluekit::distance::{Distance, Metric, latent_distance};
use cluekit::diversity::{Diversity, Norm, Set, Space};
use cluekit::explanation::{Clue, Explanation, Label, Original};
use cluekit::model::plan::Architecture;
use cluekit::model::{Generative, Predictive, Predictor};
use cluekit::model::{Stacked, Vae};
use cluekit::observer::Silent;
use cluekit::prediction::{Prediction, predict};
use cluekit::search::{
    Background, Certain, Convergence, Decoding, Delta, DiversityTerm, InitScheme, Inputs, LatentBall, Models,
    Objective, Order, Plausible, Search, Starts, SubSearches, UncertaintyWeights, Weighted,
};
use cluekit::tensor::{Tensor, gradients, leaf, log_softmax, softplus, tensor, values};
use cluekit::testing::model::{Head, Mlp, Network, Parameters, Trainable, VaeNetwork, VaeShape, stack};
use cluekit::uncertainty::Uncertainty;
use cluekit::{Error, Result, Seed};
use measures::*;
use rand_distr::{Distribution, StandardNormal};
use searches::*;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use world::*;
