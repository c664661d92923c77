//! Downloads of the files in the catalogue.
//!
//! Each file goes into `<name>.part` beside its place, is checked, and is then renamed: under its own name a file is
//! whole or not there. A transfer that breaks off is resumed; a mirror that fails is followed by the next.

use super::DataDir;
use super::catalogue::{Entry, RemoteFile};
use super::dataset::sha256_of;
use crate::error::{Error, Remedy, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use ureq::http::{Response, StatusCode, header};
use ureq::{Agent, Body};

/// The most that is read of a file whose length is not known.
const MOST_BYTES: u64 = 1 << 31;
/// How often a mirror is asked for the rest of a transfer that broke off.
const TRIES: usize = 3;

/// An event of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// The file was there already.
    Present {
        /// Name of the file.
        file: &'a str,
    },
    /// More bytes have arrived.
    Received {
        /// Name of the file.
        file: &'a str,
        /// Number of bytes so far, those of an earlier try included.
        bytes: u64,
        /// Number of bytes in all; none if it is unknown.
        total: Option<u64>,
    },
    /// A mirror did not serve the file; the next one is asked.
    MirrorFailed {
        /// Address of the mirror.
        url: &'a str,
        /// What went wrong, in words.
        reason: &'a str,
    },
    /// The file is complete and in its place.
    Fetched {
        /// Name of the file.
        file: &'a str,
        /// SHA-256 of the file's bytes, in hexadecimal.
        sha256: &'a str,
        /// Whether the hash was known beforehand; otherwise only length and format were checked.
        verified: bool,
    },
}

impl Progress<'_> {
    /// What people should know of it; nothing where all goes well.
    pub fn note(&self) -> Option<String> {
        match self {
            Self::MirrorFailed { url, reason } => Some(format!("{url}: {reason}")),
            Self::Fetched { file, sha256, verified: false } => Some(format!(
                "{file}: no SHA-256 is published for it, so only its format was checked; what came has {sha256}"
            )),
            _ => None,
        }
    }
}

/// Downloads the files of `entry` that are not there yet into its folder, and says where all of them lie.
pub fn fetch(entry: &Entry, directory: &DataDir, progress: &mut dyn FnMut(Progress)) -> Result<Vec<PathBuf>> {
    let folder = entry.folder_in(directory);
    entry.files.iter().map(|file| fetch_file(file, &folder, progress)).collect()
}

fn fetch_file(file: &RemoteFile, folder: &Path, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf> {
    if let Some(path) = already_there(file, folder)? {
        progress(Progress::Present { file: &file.name });
        return Ok(path);
    }
    fs::create_dir_all(folder).map_err(Error::writing(folder))?;
    let mut download = Download { file, part: folder.join(format!("{}.part", file.name)), progress };
    let mut answers = Vec::new();
    for url in &file.mirrors {
        match download.take_from(url) {
            Ok(sha256) => {
                let path = folder.join(&file.name);
                fs::rename(&download.part, &path).map_err(Error::writing(&path))?;
                let verified = file.sha256.is_some();
                (download.progress)(Progress::Fetched { file: &file.name, sha256: &sha256, verified });
                return Ok(path);
            }
            Err(Failure::Here(error)) => return Err(error),
            Err(Failure::Mirror(reason) | Failure::BrokenOff(reason)) => {
                (download.progress)(Progress::MirrorFailed { url, reason: &reason });
                answers.push(format!("\n  {url}: {reason}"));
            }
        }
    }
    Err(failure(file, folder, &answers))
}

fn failure(file: &RemoteFile, folder: &Path, answers: &[String]) -> Error {
    let failed = |problem: String| Error::Fetch { name: file.name.clone(), problem };
    let Some(url) = file.mirrors.first() else { return failed("it has no mirror".into()) };
    let by_hand = Remedy::Download { url: url.clone(), folder: folder.to_owned() };
    failed(format!("the mirrors answered{}\nnone served it", answers.concat()))
        .remedy(by_hand)
        .remedy(Remedy::data_folder("it"))
}

/// Where the file lies, if what lies there is right as far as that can be known.
fn already_there(file: &RemoteFile, folder: &Path) -> Result<Option<PathBuf>> {
    let Some(path) = file.find_in(folder) else { return Ok(None) };
    if path != folder.join(&file.name) {
        return Ok(Some(path)); // other names have no known hash: the user put it there
    }
    let right = match &file.sha256 {
        Some(expected) => sha256_of(&path).map_err(Error::reading(&path))? == *expected,
        None => check_format(file, &path).map_err(Error::reading(&path))?.is_ok(),
    };
    Ok(right.then_some(path))
}

/// Why a mirror did not serve a file.
enum Failure {
    /// The transfer stopped in the middle: asking the same mirror again may help.
    BrokenOff(String),
    /// The mirror does not have the right file.
    Mirror(String),
    /// This machine cannot store it: no mirror will help.
    Here(Error),
}

type Attempt<T> = std::result::Result<T, Failure>;

struct Download<'a> {
    file: &'a RemoteFile,
    part: PathBuf,
    progress: &'a mut dyn FnMut(Progress),
}

impl Download<'_> {
    /// Fetches `.part` from one mirror, with a few tries, and returns its checked SHA-256.
    fn take_from(&mut self, url: &str) -> Attempt<String> {
        let agent = agent(url);
        let mut failure = Failure::Mirror("was not asked".into());
        for _ in 0..TRIES {
            match self.attempt(&agent, url) {
                Err(Failure::BrokenOff(reason)) => failure = Failure::BrokenOff(reason),
                finished => return finished,
            }
        }
        Err(failure)
    }

    fn attempt(&mut self, agent: &Agent, url: &str) -> Attempt<String> {
        let resumed = self.resumable()?;
        if Some(resumed) != self.file.bytes {
            self.transfer(agent, url, resumed)?;
        }
        match self.check() {
            // What lay there from an earlier try may have been wrong: the mirror deserves a fresh one.
            Err(Failure::Mirror(reason)) if resumed > 0 => Err(Failure::BrokenOff(reason)),
            checked => checked,
        }
    }

    /// How many bytes of `.part` can be kept. None without a known hash: nothing would tell if the file had changed.
    fn resumable(&self) -> Attempt<u64> {
        let length = fs::metadata(&self.part).map_or(0, |metadata| metadata.len());
        if length > 0 && (self.file.sha256.is_none() || length > self.limit()) {
            self.discard()?;
            return Ok(0);
        }
        Ok(length)
    }

    fn transfer(&mut self, agent: &Agent, url: &str, resumed: u64) -> Attempt<()> {
        let request = agent.get(url);
        let request = if resumed > 0 { request.header(header::RANGE, format!("bytes={resumed}-")) } else { request };
        let response = request.call().map_err(|e| Failure::Mirror(e.to_string()))?;
        match response.status() {
            StatusCode::OK => self.store(response, 0),
            StatusCode::PARTIAL_CONTENT if resumed > 0 && starts_at(&response, resumed) => {
                self.store(response, resumed)
            }
            status @ (StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE) if resumed > 0 => {
                self.discard()?;
                Err(Failure::BrokenOff(format!("cannot go on after {resumed} bytes (it answered {status})")))
            }
            status => Err(Failure::Mirror(format!("answered {status}"))),
        }
    }

    /// Appends the body to the first `kept` bytes of `.part`.
    fn store(&mut self, mut response: Response<Body>, kept: u64) -> Attempt<()> {
        let announced = response.body().content_length().map(|length| length + kept);
        let total = self.file.bytes.or(announced);
        if let (Some(expected), Some(announced)) = (self.file.bytes, announced)
            && expected != announced
        {
            return Err(Failure::Mirror(format!("offers a file of {announced} bytes instead of {expected}")));
        }
        let mut part = self.open_part(kept)?;
        let bytes = self.receive(response.body_mut().as_reader(), &mut part, kept, total)?;
        part.sync_all().map_err(|e| self.here(e))?;
        match self.file.bytes {
            Some(expected) if bytes < expected => {
                Err(Failure::BrokenOff(format!("broke off after {bytes} of {expected} bytes")))
            }
            _ => Ok(()),
        }
    }

    /// Writes `body` behind the first `kept` bytes of `part`, and returns how many there are then.
    fn receive(&mut self, mut body: impl Read, part: &mut File, kept: u64, total: Option<u64>) -> Attempt<u64> {
        let mut buffer = vec![0; 1 << 16];
        let mut bytes = kept;
        loop {
            (self.progress)(Progress::Received { file: &self.file.name, bytes, total });
            let count = match body.read(&mut buffer) {
                Ok(0) => return Ok(bytes),
                Ok(count) => count,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(Failure::BrokenOff(format!("broke off after {bytes} bytes ({e})"))),
            };
            bytes += count as u64;
            if bytes > self.limit() {
                self.discard()?;
                return Err(Failure::Mirror(format!("sends more than {} bytes", self.limit())));
            }
            part.write_all(&buffer[..count]).map_err(|e| self.here(e))?;
        }
    }

    fn open_part(&self, kept: u64) -> Attempt<File> {
        let mut options = OpenOptions::new();
        let options = if kept > 0 { options.append(true) } else { options.write(true).create(true).truncate(true) };
        options.open(&self.part).map_err(|e| self.here(e))
    }

    /// The SHA-256 of a `.part` that is right; one that is wrong is deleted.
    fn check(&self) -> Attempt<String> {
        let found = sha256_of(&self.part).map_err(|e| self.here(e))?;
        let checked = match &self.file.sha256 {
            Some(expected) if *expected == found => Ok(()),
            Some(expected) => Err(format!("served a file with SHA-256 {found} instead of {expected}")),
            None => check_format(self.file, &self.part).map_err(|e| self.here(e))?,
        };
        match checked {
            Ok(()) => Ok(found),
            Err(reason) => {
                self.discard()?;
                Err(Failure::Mirror(reason))
            }
        }
    }

    fn discard(&self) -> Attempt<()> {
        match fs::remove_file(&self.part) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(self.here(e)),
            _ => Ok(()),
        }
    }

    fn limit(&self) -> u64 {
        self.file.bytes.unwrap_or(MOST_BYTES)
    }

    fn here(&self, error: io::Error) -> Failure {
        Failure::Here(Error::writing(&self.part)(error))
    }
}

/// An HTTP client that gives up on a silent server, and that never leaves https for http.
fn agent(url: &str) -> Agent {
    let config = Agent::config_builder()
        .https_only(url.starts_with("https://"))
        .http_status_as_error(false)
        .accept_encoding("identity") // the hashes are those of the files as they are stored
        .user_agent(concat!("cluekit/", env!("CARGO_PKG_VERSION")))
        .timeout_resolve(Some(Duration::from_secs(15)))
        .timeout_connect(Some(Duration::from_secs(15)))
        .timeout_recv_response(Some(Duration::from_secs(30)))
        .timeout_per_read(Some(Duration::from_secs(30)));
    // A server on this machine is never behind a proxy.
    let loopback = ["http://127.0.0.1:", "http://localhost:"].iter().any(|start| url.starts_with(start));
    if loopback { config.proxy(None).build().into() } else { config.build().into() }
}

/// Whether a partial response begins where we asked it to: `Content-Range: bytes 500-999/1000`.
fn starts_at(response: &Response<Body>, offset: u64) -> bool {
    let range = response.headers().get(header::CONTENT_RANGE).and_then(|range| range.to_str().ok());
    let start =
        range.and_then(|range| range.trim().strip_prefix("bytes")?.trim_start().split('-').next()?.parse().ok());
    start == Some(offset)
}

/// Whether the file begins like what its name ends in; the inner error says what it is not.
fn check_format(file: &RemoteFile, path: &Path) -> io::Result<std::result::Result<(), String>> {
    let extension = Path::new(&file.name).extension().and_then(|extension| extension.to_str()).unwrap_or("");
    let signature: &[u8] = match extension {
        "zip" => b"PK\x03\x04",
        "gz" => b"\x1f\x8b",
        "xls" => b"\xd0\xcf\x11\xe0",
        _ => b"",
    };
    let mut start = Vec::new();
    File::open(path)?.take(signature.len() as u64).read_to_end(&mut start)?;
    Ok(if start == signature { Ok(()) } else { Err(format!("served something that is not a .{extension} file")) })
}
