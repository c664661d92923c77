//! Being told to end: by Ctrl-C or another signal, or by `--timeout`.
//!
//! Work behind a [`Bar`](crate::progress::Bar) hears of it at its next step and ends by itself, so that a training leaves
//! its checkpoint. Everything else is ended from here, at once: at any moment a file is whole or absent.

use cluekit::model::store::files::abandon;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::{self, IsTerminal, Write};
use std::process::{Child, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// How long a step may take to its end before it is ended from here.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often somebody looks whether the work has ended.
const GLANCE: Duration = Duration::from_millis(10);
/// The exit code of `timeout`, which people know.
const TIMED_OUT: u8 = 124;

static ASKED: OnceLock<Reason> = OnceLock::new();
static REMEDY: OnceLock<&str> = OnceLock::new();
static WATCHED: LazyLock<Arc<()>> = LazyLock::new(Arc::default);
static ENDED: AtomicBool = AtomicBool::new(false);
static PROGRAMS: Mutex<Vec<Weak<Mutex<Child>>>> = Mutex::new(Vec::new());

/// Why the command is to end: its exit code, and what is said of it.
#[derive(Debug, PartialEq)]
struct Reason {
    code: u8,
    words: String,
}

impl Reason {
    fn signal(number: i32) -> Self {
        Self { code: 128 + number as u8, words: "stopped".into() }
    }

    fn timeout(time: Duration) -> Self {
        Self { code: TIMED_OUT, words: format!("stopped after {} s (--timeout)", time.as_secs_f64()) }
    }
}

/// Work that asks [`is_asked`] at every step begins, and goes on as long as this lives.
pub fn watched() -> Arc<()> {
    WATCHED.clone()
}

fn is_watched() -> bool {
    Arc::strong_count(&WATCHED) > 1
}

/// Whether the command was told to end.
pub fn is_asked() -> bool {
    ASKED.get().is_some()
}

/// Another program is ended too when this command is ended from here.
pub fn take_along(program: &Arc<Mutex<Child>>) {
    PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(program));
}

/// Ends another program, unless it has ended by itself.
pub fn end_program(program: &Mutex<Child>) {
    let mut child = program.lock().unwrap_or_else(PoisonError::into_inner);
    // Of one that has ended already nothing is left to do.
    if let Ok(None) = child.try_wait() {
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// What to do after this command was stopped; the first word counts.
pub fn remedy(text: &'static str) {
    let _ = REMEDY.set(text);
}

/// Listens to signals, and to the clock if there is a time to end at.
pub fn listen(timeout: Option<Duration>) -> io::Result<()> {
    signals()?;
    if let Some(time) = timeout {
        let wait = move || {
            thread::sleep(time);
            ask(Reason::timeout(time));
        };
        thread::Builder::new().name("timeout".into()).spawn(wait)?;
    }
    Ok(())
}

/// The end of a command that has stopped; nothing if nobody asked for it.
pub fn ended() -> Option<ExitCode> {
    let reason = ASKED.get()?;
    say(reason);
    Some(ExitCode::from(reason.code))
}

/// Tells the work to end. Who asks again will not wait.
fn ask(reason: Reason) {
    if ASKED.set(reason).is_err() {
        end();
    }
    let wait = || {
        let begun = Instant::now();
        while is_watched() && begun.elapsed() < PATIENCE {
            thread::sleep(GLANCE);
        }
        end();
    };
    // Without a thread to wait in there is no patience.
    if thread::Builder::new().name("stop".into()).spawn(wait).is_err() {
        end();
    }
}

/// Ends the process.
fn end() -> ! {
    let reason = ASKED.get().expect("somebody asked for it");
    let programs = std::mem::take(&mut *PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner));
    programs.iter().filter_map(Weak::upgrade).for_each(|program| end_program(&program));
    let _nobody_writes_now = abandon();
    say(reason);
    signal_hook::low_level::exit(reason.code.into())
}

/// One line for the user; only one thread gets to say it, and the others wait for the end.
fn say(reason: &Reason) {
    if ENDED.swap(true, Ordering::SeqCst) {
        loop {
            thread::park();
        }
    }
    let mut stderr = io::stderr();
    let remedy = REMEDY.get().unwrap_or(&"no file was left half-written");
    // A bar that is still there ends with its line.
    let begin = if is_watched() && stderr.is_terminal() { "\n" } else { "" };
    // If stderr is gone too, there is nobody left to tell.
    let _ = writeln!(stderr, "{begin}clue: {}; {remedy}", reason.words);
}

#[cfg(unix)]
fn signals() -> io::Result<()> {
    use signal_hook::consts::SIGHUP;
    use signal_hook::iterator::Signals;
    // `nohup` and shells that put a command into the background have signals ignored, and mean it.
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| *signal == SIGTERM || !is_ignored(*signal));
    let mut signals = Signals::new(wanted)?;
    let listen = move || signals.forever().for_each(|signal| ask(Reason::signal(signal)));
    thread::Builder::new().name("signals".into()).spawn(listen)?;
    Ok(())
}

/// Whether a signal was ignored when the process began; where nothing tells, it was not.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

#[cfg(not(unix))]
fn signals() -> io::Result<()> {
    use std::sync::atomic::AtomicUsize;
    let heard = Arc::new(AtomicUsize::new(0));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_usize(signal, heard.clone(), signal as usize)?;
    }
    let listen = move || {
        loop {
            thread::sleep(GLANCE);
            match heard.swap(0, Ordering::SeqCst) {
                0 => {}
                signal => ask(Reason::signal(signal as i32)),
            }
        }
    };
    thread::Builder::new().name("signals".into()).spawn(listen)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_that_shells_know() {
        assert_eq!([1, 2, 15].map(|signal| Reason::signal(signal).code), [129, 130, 143]);
        let timeout = Reason::timeout(Duration::from_millis(1500));
        assert_eq!((timeout.code, timeout.words.as_str()), (124, "stopped after 1.5 s (--timeout)"));
    }
}
