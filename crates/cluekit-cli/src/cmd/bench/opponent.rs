//! The other program of a race: started, asked line by line, and ended with this command.
//!
//! It reads one request a line on stdin and writes one reply a line on stdout, both JSON objects; `bench/torch/README.md`
//! lists them.

use super::figures::{Quality, Sample};
use super::words::words;
use crate::stop;
use anyhow::{Result, anyhow, bail};
use cluekit::Error;
use serde::Deserialize;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often it is asked whether the work is to end.
const GLANCE: Duration = Duration::from_millis(20);
/// How long a program that closed its stdout, or was told to quit, may take to its end.
const FAREWELL: Duration = Duration::from_secs(2);
/// Signs of a foreign line that are shown.
const SHOWN: usize = 200;

/// Another program that searches clues.
pub struct Opponent {
    command: String,
    child: Arc<Mutex<Child>>,
    requests: ChildStdin,
    replies: Receiver<String>,
    last_words: Arc<Mutex<String>>,
    patience: Duration,
}

/// What it replies to `clue` and `forward`.
#[derive(Debug, Deserialize)]
struct Reply {
    seconds: f64,
    cost: Option<f64>,
    uncertainty: f64,
    distance: Option<f64>,
    dpp: Option<f64>,
    share_certain: Option<f64>,
}

impl Opponent {
    /// Starts the program; it has `patience` for each reply.
    pub fn start(command: &str, patience: Duration) -> Result<Self> {
        let words = words(command)?;
        let Some((program, arguments)) = words.split_first() else {
            bail!("--against names no program; give one with its arguments");
        };
        let piped = || Stdio::piped();
        let started = Command::new(program).args(arguments).stdin(piped()).stdout(piped()).stderr(piped()).spawn();
        let mut child = started.map_err(|problem| {
            anyhow!("cannot start `{command}`: {problem}; give --against a program and its arguments")
        })?;
        let taken = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let child = Arc::new(Mutex::new(child));
        stop::take_along(&child);
        let (Some(requests), Some(stdout), Some(stderr)) = taken else {
            bail!("`{command}` has no pipes to talk through; this is a fault of clue");
        };
        let (send, replies) = channel();
        thread::spawn(move || each_line(stdout, |line| send.send(line).is_ok()));
        let last_words = Arc::new(Mutex::new(String::new()));
        let said = last_words.clone();
        thread::spawn(move || {
            each_line(stderr, |line| {
                if !line.trim().is_empty() {
                    *held(&said) = line;
                }
                true
            });
        });
        Ok(Self { command: command.to_owned(), child, requests, replies, last_words, patience })
    }

    /// What it says of itself.
    pub fn info(&mut self) -> Result<Value> {
        self.ask(&serde_json::json!({"work": "info"}))
    }

    /// Lets it work, by its own clock.
    pub fn measure(&mut self, request: &Value) -> Result<Sample> {
        let reply = self.ask(request)?;
        let read = Reply::deserialize(&reply).ok().filter(|reply| reply.seconds > 0.0 && reply.seconds.is_finite());
        let Some(read) = read else {
            let expected = "an object with at least `seconds` above 0 and `uncertainty` is expected";
            bail!("`{}` answered `{}`, and {expected}{}", self.command, shown(&reply.to_string()), self.last_words());
        };
        let quality = Quality {
            cost: read.cost.unwrap_or(read.uncertainty),
            uncertainty: read.uncertainty,
            distance: read.distance.unwrap_or(0.0),
            dpp: read.dpp,
            certain: read.share_certain,
        };
        Ok(Sample { seconds: read.seconds, quality, peak: None })
    }

    fn ask(&mut self, request: &Value) -> Result<Value> {
        let sent = writeln!(self.requests, "{request}").and_then(|()| self.requests.flush());
        // A pipe that is closed is told as an end of the program: as the cause of an error it would mean `clue … | head`.
        let line = match sent {
            Ok(()) => self.reply()?,
            Err(_) => return Err(self.ended()),
        };
        let reply: Value = match serde_json::from_str(&line) {
            Ok(reply @ Value::Object(_)) => reply,
            _ => bail!(
                "`{}` answered `{}`, and one JSON object a line is expected{}",
                self.command,
                shown(&line),
                self.last_words()
            ),
        };
        match reply.get("error") {
            None => Ok(reply),
            Some(problem) => {
                let problem = problem.as_str().map_or_else(|| problem.to_string(), str::to_owned);
                bail!("`{}` refused {}: {}{}", self.command, request["work"], shown(&problem), self.last_words())
            }
        }
    }

    /// The next line, unless the program ends, takes too long, or the command is to end.
    fn reply(&mut self) -> Result<String> {
        let begun = Instant::now();
        loop {
            match self.replies.recv_timeout(GLANCE) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
                Err(RecvTimeoutError::Timeout) if stop::is_asked() => {
                    return Err(Error::Cancelled { what: "the race".into() }.into());
                }
                Err(RecvTimeoutError::Timeout) if begun.elapsed() > self.patience => {
                    let seconds = self.patience.as_secs_f64();
                    let remedy = "give it more time with --patience";
                    bail!("`{}` did not answer within {seconds} s; {remedy}{}", self.command, self.last_words());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// The error of a program that ended.
    fn ended(&self) -> anyhow::Error {
        let how = match self.end_within(FAREWELL) {
            Some(status) => format!("ended ({status})"),
            None => "closed its stdout".to_owned(),
        };
        // What it said last may still be on its way.
        thread::sleep(GLANCE);
        anyhow!("`{}` {how} before it answered{}", self.command, self.last_words())
    }

    fn end_within(&self, time: Duration) -> Option<std::process::ExitStatus> {
        let begun = Instant::now();
        loop {
            match held(&self.child).try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if begun.elapsed() < time => {}
                _ => return None,
            }
            thread::sleep(GLANCE);
        }
    }

    fn last_words(&self) -> String {
        match held(&self.last_words).as_str() {
            "" => "; it said nothing on stderr".to_owned(),
            words => format!("; its last words on stderr: `{}`", shown(words)),
        }
    }

    /// Lets it go in peace.
    pub fn quit(mut self) {
        let asked = writeln!(self.requests, "{}", serde_json::json!({"work": "quit"}));
        if asked.and_then(|()| self.requests.flush()).is_ok() {
            self.end_within(FAREWELL);
        }
    }
}

impl Drop for Opponent {
    fn drop(&mut self) {
        stop::end_program(&self.child);
    }
}

/// Hands over each line, until nobody wants more.
fn each_line(from: impl Read, mut wants: impl FnMut(String) -> bool) {
    let mut lines = BufReader::new(from);
    let mut line = Vec::new();
    while matches!(lines.read_until(b'\n', &mut line), Ok(1..)) {
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        line.clear();
        if !wants(text) {
            break;
        }
    }
}

/// The beginning of a foreign line, as one that is safe to show.
fn shown(line: &str) -> String {
    let line = line.trim();
    let shown: String = line.chars().take(SHOWN).map(|sign| if sign.is_control() { ' ' } else { sign }).collect();
    if line.chars().nth(SHOWN).is_some() { shown + "…" } else { shown }
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_lines_are_shown_short_and_without_control_signs() {
        assert_eq!(shown(" a\tb\u{1b}[31m \n"), "a b [31m");
        assert_eq!(shown(&"x".repeat(300)).chars().count(), SHOWN + 1);
    }

    #[test]
    fn lines_are_read_whatever_bytes_they_have() {
        let mut lines = Vec::new();
        each_line(&b"one\r\n\xfftwo\nthree"[..], |line| {
            lines.push(line);
            true
        });
        assert_eq!(lines, ["one", "\u{fffd}two", "three"]);
    }
}
