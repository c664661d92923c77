//! Downloads, against servers on this machine that behave well and badly.

use cluekit::data::catalogue::{Entry, RemoteFile};
use cluekit::data::fetch::{Progress, fetch};
use cluekit::data::{DataDir, catalogue};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

/// A server on this machine and the requests that it got, in lower case.
struct Server {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers request number `i` (from 0) with the bytes `answer(i, request)`, and closes the connection.
    fn start(answer: impl Fn(usize, &str) -> Vec<u8> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/data/set.zip", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let lines: Vec<String> = lines.map(Result::unwrap).take_while(|line| !line.is_empty()).collect();
                let request = lines.join("\n").to_lowercase();
                let number = seen.lock().unwrap().len();
                seen.lock().unwrap().push(request.clone());
                let _ = stream.write_all(&answer(number, &request)); // a client may hang up early
            }
        });
        Self { url, requests }
    }

    /// A server that always answers the same.
    fn always(answer: Vec<u8>) -> Self {
        Self::start(move |_, _| answer.clone())
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// What is to be fetched: begins like a zip archive, and is longer than any buffer on the way.
fn contents() -> Vec<u8> {
    let noise = (0..300_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8);
    b"PK\x03\x04".iter().copied().chain(noise).collect()
}

fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n{headers}\r\n");
    [head.as_bytes(), body].concat()
}

fn ok(body: &[u8]) -> Vec<u8> {
    answer("200 OK", &format!("Content-Length: {}\r\n", body.len()), body)
}

/// Announces all of `body` but sends the first `sent` bytes only.
fn broken_off(body: &[u8], sent: usize) -> Vec<u8> {
    answer("200 OK", &format!("Content-Length: {}\r\n", body.len()), &body[..sent])
}

/// The rest of `body` from where the `Range` of the request asks for it.
fn partial(body: &[u8], request: &str) -> Vec<u8> {
    let range = request.lines().find_map(|line| line.strip_prefix("range: bytes=")).unwrap();
    let from: usize = range.strip_suffix('-').unwrap().parse().unwrap();
    let (length, last, total) = (body.len() - from, body.len() - 1, body.len());
    let headers = format!("Content-Length: {length}\r\nContent-Range: bytes {from}-{last}/{total}\r\n");
    answer("206 Partial Content", &headers, &body[from..])
}

fn not_found() -> Vec<u8> {
    answer("404 Not Found", "Content-Length: 4\r\n", b"gone")
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn entry(servers: &[&Server]) -> Entry {
    let file = RemoteFile {
        name: "set.zip".into(),
        bytes: Some(contents().len() as u64),
        sha256: Some(hash(&contents())),
        mirrors: servers.iter().map(|server| server.url.clone()).collect(),
        also: vec![],
    };
    Entry {
        name: "set".into(),
        folder: "folder".into(),
        files: vec![file],
        ..catalogue::find("moons", &DataDir::locate(None)).unwrap()
    }
}

/// The entry without what is known beforehand about its file.
fn unknown(servers: &[&Server]) -> Entry {
    let mut entry = entry(servers);
    (entry.files[0].bytes, entry.files[0].sha256) = (None, None);
    entry
}

/// A data directory of its own for each test.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("folder")).unwrap();
        Self(folder)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join("folder").join(name)
    }

    /// Fetches and returns the outcome with every event but those that count bytes.
    fn fetch(&self, entry: &Entry) -> (cluekit::Result<Vec<PathBuf>>, Vec<String>) {
        let mut events = Vec::new();
        let mut watch = |progress: Progress| match progress {
            Progress::Received { .. } => {}
            Progress::Present { file } => events.push(format!("present {file}")),
            Progress::MirrorFailed { reason, .. } => events.push(format!("failed: {reason}")),
            Progress::Fetched { file, verified, .. } => events.push(format!("fetched {file}, verified: {verified}")),
        };
        let outcome = fetch(entry, &DataDir::locate(Some(self.0.path())), &mut watch);
        (outcome, events)
    }

    /// Fetches what must succeed.
    fn fetch_well(&self, entry: &Entry) -> Vec<String> {
        let (outcome, events) = self.fetch(entry);
        assert_eq!(outcome.unwrap(), [self.file("set.zip")]);
        assert_eq!(fs::read(self.file("set.zip")).unwrap(), contents());
        self.assert_no_part();
        events
    }

    /// Fetches what must fail, and returns the message.
    fn fetch_badly(&self, entry: &Entry) -> String {
        let message = self.fetch(entry).0.unwrap_err().to_string();
        assert!(!self.file("set.zip").exists(), "nothing lies under the final name");
        message
    }

    fn assert_no_part(&self) {
        assert!(!self.file("set.zip.part").exists());
    }
}

#[test]
fn a_file_is_fetched_checked_and_put_in_its_place() {
    let (server, place) = (Server::always(ok(&contents())), Place::new());
    fs::remove_dir(place.0.path().join("folder")).unwrap(); // it is created
    let mut received = Vec::new();
    let mut watch = |progress: Progress| {
        if let Progress::Received { bytes, total, .. } = progress {
            received.push((bytes, total));
        }
    };
    let paths = fetch(&entry(&[&server]), &DataDir::locate(Some(place.0.path())), &mut watch).unwrap();
    assert_eq!(paths, [place.file("set.zip")]);
    assert_eq!(fs::read(&paths[0]).unwrap(), contents());
    place.assert_no_part();
    assert_eq!(received.first(), Some(&(0, Some(300_004))));
    assert_eq!(received.last(), Some(&(300_004, Some(300_004))));
    assert!(!server.requests()[0].contains("range:"));
}

#[test]
fn a_transfer_that_breaks_off_is_resumed_where_it_stopped() {
    let server = Server::start(|number, request| match number {
        0 => broken_off(&contents(), 100_000),
        _ => partial(&contents(), request),
    });
    Place::new().fetch_well(&entry(&[&server]));
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[1].contains("range: bytes=100000-"), "{}", requests[1]);
}

#[test]
fn the_part_of_an_earlier_run_is_resumed() {
    let (server, place) = (Server::start(|_, request| partial(&contents(), request)), Place::new());
    fs::write(place.file("set.zip.part"), &contents()[..1234]).unwrap();
    place.fetch_well(&entry(&[&server]));
    assert!(server.requests()[0].contains("range: bytes=1234-"));
}

#[test]
fn a_whole_part_needs_no_request() {
    let (server, place) = (Server::always(not_found()), Place::new());
    fs::write(place.file("set.zip.part"), contents()).unwrap();
    place.fetch_well(&entry(&[&server]));
    assert!(server.requests().is_empty());
}

#[test]
fn a_server_that_ignores_or_refuses_the_range_starts_again() {
    let ignores = Server::always(ok(&contents()));
    let refuses = Server::start(|number, _| match number {
        0 => answer("416 Range Not Satisfiable", "Content-Length: 0\r\n", b""),
        _ => ok(&contents()),
    });
    let elsewhere = Server::start(|number, _| match number {
        0 => answer("206 Partial Content", "Content-Length: 3\r\nContent-Range: bytes 0-2/300004\r\n", b"PK\x03"),
        _ => ok(&contents()),
    });
    for server in [ignores, refuses, elsewhere] {
        let place = Place::new();
        fs::write(place.file("set.zip.part"), &contents()[..1234]).unwrap();
        place.fetch_well(&entry(&[&server]));
    }
}

#[test]
fn a_wrong_part_is_thrown_away_and_the_same_mirror_asked_afresh() {
    let server = Server::start(|number, request| match number {
        0 => partial(&contents(), request),
        _ => ok(&contents()),
    });
    let place = Place::new();
    fs::write(place.file("set.zip.part"), [0; 1234]).unwrap();
    place.fetch_well(&entry(&[&server]));
    assert!(!server.requests()[1].contains("range:"));
}

#[test]
fn wrong_bytes_send_us_to_the_next_mirror() {
    let mut wrong = contents();
    wrong[1000] ^= 1;
    let (bad, good) = (Server::always(ok(&wrong)), Server::always(ok(&contents())));
    let events = Place::new().fetch_well(&entry(&[&bad, &good]));
    assert!(events[0].contains(&format!("SHA-256 {} instead of {}", hash(&wrong), hash(&contents()))), "{events:?}");
    assert_eq!(events[1], "fetched set.zip, verified: true");
    assert_eq!((bad.requests().len(), good.requests().len()), (1, 1));
}

#[test]
fn when_every_mirror_is_wrong_the_error_lists_each_and_the_remedy() {
    let mut wrong = contents();
    wrong[0] ^= 1;
    let (bytes, page, gone) = (Server::always(ok(&wrong)), Server::always(ok(b"<html>")), Server::always(not_found()));
    let place = Place::new();
    let message = place.fetch_badly(&entry(&[&bytes, &page, &gone]));
    for (server, reason) in [
        (&bytes, "served a file with SHA-256"),
        (&page, "offers a file of 6 bytes instead of 300004"),
        (&gone, "answered 404 Not Found"),
    ] {
        assert!(message.contains(&format!("{}: {reason}", server.url)), "{message}");
    }
    let folder = place.0.path().join("folder");
    assert!(message.contains(&format!("by hand into {}", folder.display())), "{message}");
    assert!(message.contains("name a data folder"), "{message}");
    place.assert_no_part();
}

#[test]
fn a_server_that_is_not_there_is_one_more_answer() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port(); // free again at once
    let mut entry = entry(&[&Server::always(ok(&contents()))]);
    entry.files[0].mirrors.insert(0, format!("http://127.0.0.1:{port}/set.zip"));
    let events = Place::new().fetch_well(&entry);
    assert!(events[0].starts_with("failed: "), "{events:?}");
}

#[test]
fn a_mirror_that_keeps_breaking_off_is_tried_three_times_and_its_part_is_kept() {
    let server = Server::start(|number, request| match number {
        0 => broken_off(&contents(), 100_000),
        _ => {
            let whole = partial(&contents(), request);
            whole[..whole.len() - 150_000].to_vec()
        }
    });
    let place = Place::new();
    let message = place.fetch_badly(&entry(&[&server]));
    assert_eq!(server.requests().len(), 3);
    assert!(message.contains("broke off after"), "{message}");
    let kept = fs::read(place.file("set.zip.part")).unwrap();
    assert!(kept.len() >= 100_000 && contents().starts_with(&kept));
}

#[test]
fn no_more_than_the_declared_bytes_are_read() {
    // Without a Content-Length the body lasts until the connection closes.
    let server = Server::always(answer("200 OK", "", &[contents(), vec![0; 100]].concat()));
    let place = Place::new();
    let message = place.fetch_badly(&entry(&[&server]));
    assert!(message.contains("sends more than 300004 bytes"), "{message}");
    place.assert_no_part();
}

#[test]
fn a_good_file_is_not_fetched_again_and_a_bad_one_is() {
    let (server, place) = (Server::always(ok(&contents())), Place::new());
    fs::write(place.file("set.zip"), contents()).unwrap();
    assert_eq!(place.fetch_well(&entry(&[&server])), ["present set.zip"]);
    assert!(server.requests().is_empty());

    fs::write(place.file("set.zip"), b"PK\x03\x04 but not all of it").unwrap();
    assert_eq!(place.fetch_well(&entry(&[&server])), ["fetched set.zip, verified: true"]);
}

#[test]
fn a_file_under_another_of_its_names_is_left_alone() {
    let (server, place) = (Server::always(not_found()), Place::new());
    fs::write(place.file("set.csv"), "a,b\n").unwrap();
    let mut entry = entry(&[&server]);
    entry.files[0].also = vec!["set.csv".into()];
    assert_eq!(place.fetch(&entry).0.unwrap(), [place.file("set.csv")]);
    assert!(server.requests().is_empty());
}

#[test]
fn without_a_known_hash_the_format_is_checked_and_the_caller_told() {
    let (page, good) = (Server::always(ok(b"<html>sign in</html>")), Server::always(ok(&contents())));
    let events = Place::new().fetch_well(&unknown(&[&page, &good]));
    assert_eq!(events, ["failed: served something that is not a .zip file", "fetched set.zip, verified: false"]);
}

#[test]
fn without_a_known_hash_nothing_is_resumed() {
    let (server, place) = (Server::always(ok(&contents())), Place::new());
    fs::write(place.file("set.zip.part"), &contents()[..1234]).unwrap();
    place.fetch_well(&unknown(&[&server]));
    assert!(!server.requests()[0].contains("range:"));
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let place = Place::new();
    let blocked = place.file("blocked");
    fs::write(&blocked, "a file where the data directory should be").unwrap();
    let server = Server::always(ok(&contents()));
    let error = fetch(&entry(&[&server]), &DataDir::locate(Some(Path::new(&blocked))), &mut |_| {}).unwrap_err();
    assert!(error.to_string().starts_with(&format!("cannot write {}", blocked.join("folder").display())));
}
