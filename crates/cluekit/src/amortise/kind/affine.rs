//! `affine`: μ_θ(z₀ + A z₀ + b), A and b from Eq. 2.
//!
//! Its map is a [`LatentMap`](crate::amortise::translation::LatentMap).

use super::{Functions, Saved};
use crate::amortise::translation::{Form, LatentMap, layout};
use std::sync::Arc;

pub(super) const FUNCTIONS: Functions = Functions {
    fit: |fit, plan, groups, observer| fit.by_equation_2(plan, groups, observer, Form::Affine, |map| Arc::new(map)),
    saved: Saved::EachGroup {
        layout: |latent, _| layout(Form::Affine, latent),
        read: |numbers, latent, _| Arc::new(LatentMap::of_numbers(Form::Affine, latent, numbers)),
    },
};
