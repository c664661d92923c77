//! The most memory that was held at once, where the system tells.

use std::fs;

/// Bytes of a megabyte, here and wherever megabytes are told.
pub const MEGABYTE: f64 = 1e6;

/// Forgets the peak so far; false where the system does not do that.
pub fn forget_peak() -> bool {
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The most memory since then, in megabytes.
pub fn peak() -> Option<f64> {
    peak_in(&fs::read_to_string("/proc/self/status").ok()?)
}

/// `VmHWM:  123456 kB`, where a kB is 1024 bytes.
fn peak_in(status: &str) -> Option<f64> {
    let amount = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = amount.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024.0 / MEGABYTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_in_megabytes() {
        let megabytes = peak_in("VmPeak:\t  999 kB\nVmHWM:\t  250000 kB\nVmRSS:\t 1 kB\n").unwrap();
        assert!((megabytes - 256.0).abs() < 1e-9, "{megabytes}");
        assert_eq!(peak_in("Name:\tclue\n"), None);
    }
}
