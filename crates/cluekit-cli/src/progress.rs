//! Progress of training on stderr: a bar on a terminal, nothing otherwise. Whoever shows it also ends it.

use crate::stop;
use cluekit::observer::{Observer, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

/// A bar that shows rate, time left, loss and validation figure.
pub struct Bar {
    bar: ProgressBar,
    what: String,
    begun: Instant,
    watched: Option<Arc<()>>,
}

impl Bar {
    /// A bar, or nothing when `quiet`.
    pub fn new(quiet: bool) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(10) };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        Self { bar, what: String::new(), begun: Instant::now(), watched: None }
    }

    fn begin(&mut self, progress: &Progress) {
        let rate = |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{:.0} steps/s", state.per_sec());
        };
        let template = "{prefix:<22} {bar:28} {percent:>3}% {rate:>13}  {eta:>4} left  {msg}";
        let style = ProgressStyle::with_template(template).expect("the template is a constant");
        self.bar.set_style(style.with_key("rate", rate).progress_chars("━╸─"));
        self.bar.set_prefix(progress.what.to_owned());
        self.bar.set_length(progress.total);
        self.bar.reset();
        self.bar.set_position(progress.done);
        self.bar.reset_eta();
        self.what = progress.what.to_owned();
        self.begun = Instant::now();
        self.watched.get_or_insert_with(stop::watched);
    }
}

impl Observer for Bar {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        if stop::is_asked() {
            self.bar.finish_and_clear();
            return ControlFlow::Break(());
        }
        if self.what != progress.what {
            self.begin(progress);
        }
        self.bar.set_position(progress.done);
        let validation =
            progress.validation.map_or(String::new(), |(name, figure)| format!(", validation {name} {figure:.4}"));
        if progress.done > 0 && !progress.loss.is_nan() {
            self.bar.set_message(format!("loss {:.4}{validation}", progress.loss));
        }
        ControlFlow::Continue(())
    }

    fn finished(&mut self, what: &str, reason: &str) {
        self.bar.finish_and_clear();
        tracing::info!("{what}: {reason} ({:.1} s)", self.begun.elapsed().as_secs_f64());
        self.what.clear();
        self.watched = None;
    }
}
