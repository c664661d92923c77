//! Watching long work and ending it: the library tells how far it is, somebody else shows that and says whether to go on.

use crate::error::{Error, Result};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Duration;

/// How far training, or a search, has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress<'a> {
    /// Name of the work: `vae`, `bayesian network`, `ensemble member 3 of 5`, `searching`.
    pub what: &'a str,
    /// Number of steps done so far.
    pub done: u64,
    /// Number of steps in all, if training needs every epoch.
    pub total: u64,
    /// Mean training loss of the current epoch so far, in nats a row; for a search the newest mean objective. Means
    /// nothing before the first step, and is no number where nothing is minimised.
    pub loss: f64,
    /// The newest figure on the validation rows, with its name.
    pub validation: Option<(&'static str, f64)>,
}

/// Watches long work, and may end it.
///
/// ```
/// use cluekit::observer::{Observer, Progress};
/// use std::ops::ControlFlow;
///
/// /// Ends the work after so many steps.
/// struct Limit(u64);
///
/// impl Observer for Limit {
///     fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
///         if progress.done < self.0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
///     }
///     fn finished(&mut self, _: &str, _: &str) {}
/// }
/// ```
pub trait Observer: Send {
    /// Called after every step, and in between where a step takes long or work has no steps.
    ///
    /// `Break` ends the work with [`Error::Cancelled`] before another step is done. What is whole by then is kept: a
    /// training leaves a checkpoint, from which it goes on to the same end.
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()>;

    /// Called when a model is trained, with the reason why training ended.
    fn finished(&mut self, what: &str, reason: &str);
}

/// An observer that ignores all progress and lets work run to its end.
///
/// ```
/// use cluekit::observer::{Shared, Silent};
///
/// let mut silent = Silent;
/// let work = Shared::new(&mut silent, "searching", 10);
/// assert!(work.add(3, 0.5).is_ok()); // nobody ends the work
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    fn finished(&mut self, _: &str, _: &str) {}
}

/// Work that many threads share: it adds up their steps, and all of them hear when it is to end.
pub struct Shared<'a> {
    what: &'a str,
    total: u64,
    state: Mutex<State<'a>>,
}

struct State<'a> {
    observer: &'a mut dyn Observer,
    done: u64,
    loss: f64,
    validation: Option<(&'static str, f64)>,
    stopped: bool,
}

impl<'a> Shared<'a> {
    /// Work called `what` of `total` steps, watched by `observer`.
    pub fn new(observer: &'a mut dyn Observer, what: &'a str, total: u64) -> Self {
        let state = State { observer, done: 0, loss: f64::NAN, validation: None, stopped: false };
        Self { what, total, state: Mutex::new(state) }
    }

    /// Adds `steps` done steps with the newest `loss`; an error if the work is to end.
    pub fn add(&self, steps: u64, loss: f64) -> Result<()> {
        self.tell(|state| (state.done, state.loss) = ((state.done + steps).min(self.total), loss))
    }

    /// One more step is done, and its figure on the validation rows; an error if the work is to end.
    pub fn judged(&self, name: &'static str, figure: f64) -> Result<()> {
        self.tell(|state| {
            (state.done, state.loss, state.validation) = (state.done + 1, figure, Some((name, figure)));
        })
    }

    /// Asks the observer whether to go on; an error if the work is to end.
    pub fn go_on(&self) -> Result<()> {
        self.tell(|_| {})
    }

    /// The observer is asked until it says `Break`, and never again.
    fn tell(&self, change: impl FnOnce(&mut State)) -> Result<()> {
        // An observer that panicked on another thread ends the work there.
        let Ok(mut state) = self.state.lock() else { return Ok(()) };
        if !state.stopped {
            change(&mut state);
            let State { done, loss, validation, .. } = *state;
            let progress = Progress { what: self.what, done, total: self.total, loss, validation };
            state.stopped = state.observer.progress(&progress).is_break();
        }
        if state.stopped { Err(Error::Cancelled { what: self.what.into() }) } else { Ok(()) }
    }
}

/// A time after which work is to end, as people write it: `90`, `90s`, `10m`, `1.5h`.
pub fn parse_time(text: &str) -> std::result::Result<Duration, String> {
    let number = text.trim_end_matches(['s', 'm', 'h']);
    let unit = match &text[number.len()..] {
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        other => return Err(format!("`{other}` is no unit of time; write 90, 90s, 10m or 2h")),
    };
    let seconds = number.parse::<f64>().ok().filter(|seconds| *seconds > 0.0).map(|seconds| seconds * unit);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| format!("`{text}` is no time that can pass; write 90, 90s, 10m or 2h"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::over_shards;

    /// Says `Break` at the call of this number.
    struct Until(u64, u64);

    impl Observer for Until {
        fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
            self.1 += 1;
            if self.1 < self.0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        }
        fn finished(&mut self, _: &str, _: &str) {}
    }

    #[test]
    fn every_thread_hears_of_the_end_and_the_observer_is_left_alone() {
        let mut observer = Until(40, 0);
        {
            let shared = Shared::new(&mut observer, "counting", 100);
            let done = over_shards(100, 1, |_| shared.add(1, 0.5).is_ok());
            assert_eq!(done.iter().filter(|ok| **ok).count(), 39);
            assert_eq!(shared.go_on().unwrap_err().to_string(), "counting was stopped");
        }
        assert_eq!(observer.1, 40);
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        let milliseconds = |text: &str| parse_time(text).unwrap().as_millis();
        assert_eq!(["90", "90s", "10m", "1.5h", "0.25"].map(milliseconds), [90_000, 90_000, 600_000, 5_400_000, 250]);
        for wrong in ["", "s", "-1", "0", "ten", "5d", "5ms", "inf", "nan", "1e300"] {
            assert!(parse_time(wrong).unwrap_err().contains("write 90, 90s, 10m or 2h"), "{wrong}");
        }
    }
}
