//! Networks of other programs, with the answers and gradients that other programs give.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should fail")]

mod fixtures;
mod hostile;
mod models;
mod trees;
