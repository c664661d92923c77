//! Networks of other programs, with the answers and gradients that other programs give.

mod fixtures;
mod hostile;
mod models;
