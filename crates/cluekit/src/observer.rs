//! Watching long work: the library tells what it does, somebody else decides how to show it.

/// How far training, or a search, has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress<'a> {
    /// What is being done: `vae`, `bayesian network`, `ensemble member 3 of 5`, `searching`.
    pub what: &'a str,
    /// Steps done.
    pub done: u64,
    /// Steps in all, if every epoch is needed.
    pub total: u64,
    /// Mean training loss of the current epoch so far, in nats a row; for a search the newest mean objective. Means
    /// nothing before the first step.
    pub loss: f64,
    /// The newest figure on the validation rows, with its name.
    pub validation: Option<(&'static str, f64)>,
}

/// Somebody who watches.
pub trait Observer: Send {
    /// After every step of training; where a step takes long, before the first one too.
    fn progress(&mut self, progress: &Progress);

    /// When a model is trained, and why training ended.
    fn finished(&mut self, what: &str, reason: &str);
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn progress(&mut self, _: &Progress) {}
    fn finished(&mut self, _: &str, _: &str) {}
}
