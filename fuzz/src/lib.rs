//! Checksums for what a fuzzer makes: without them no input would get past the first check.

use session_todo::{State, checkpoint};

/// What stands before the checksum in a line of a log.
const BEFORE: &[u8] = b"{\"crc\":\"";

/// The lines of these bytes as a log, each with the checksum that it needs. A line of no more than a digit or two
/// stands for a record, so that short inputs are logs too.
#[must_use]
pub fn chain(bytes: &[u8]) -> Vec<u8> {
    let mut log = Vec::new();
    let mut crc = 0_u32;
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let body = match line {
            [] | [_] | [_, _] => plain(number, line.first().copied().unwrap_or_default()).into_bytes(),
            line => line.to_vec(),
        };
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&crc.to_le_bytes());
        hasher.update(&body);
        crc = hasher.finalize();
        log.extend_from_slice(BEFORE);
        log.extend_from_slice(format!("{crc:08x}\",").as_bytes());
        log.extend_from_slice(&body);
        log.push(b'\n');
    }
    log
}

/// A record that stands at its place, by one byte.
fn plain(number: u64, choice: u8) -> String {
    let part = ["", "\"part\":[1,2],", "\"part\":[2,2],", "\"part\":[1,1],"][usize::from(choice / 8 % 4)];
    let state = serde_json::to_string(&State::default()).unwrap();
    let policy = format!("\"policy\":{{\"name\":\"default\",\"state\":{state}}}}}");
    match (number, choice % 8) {
        (1, _) => {
            format!("\"seq\":1,{part}\"format\":\"session-todo-log\",\"version\":1,\"session\":\"s\",{policy}")
        }
        (_, 0) => format!("\"seq\":{number},{part}{policy}"),
        (_, 1) => format!("\"seq\":{number},{part}\"event\":\"compacted\"}}"),
        (_, 2) => format!("\"seq\":{number},{part}\"event\":\"resumed\"}}"),
        (_, 3) => format!("\"seq\":{},{part}\"event\":\"resumed\"}}", number + 1),
        _ => format!("\"seq\":{number},{part}\"event\":{{\"request_sent\":{{\"by\":\"main\"}}}}}}"),
    }
}

/// These bytes as the archive of a checkpoint, with a header that agrees.
#[must_use]
pub fn sealed(archive: &[u8]) -> Vec<u8> {
    let own = checkpoint::to_bytes(&State::default()).unwrap();
    let mut bytes = own[..16].to_vec();
    bytes.extend_from_slice(&u32::try_from(archive.len()).unwrap().to_le_bytes());
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes);
    hasher.update(archive);
    bytes.extend_from_slice(&hasher.finalize().to_le_bytes());
    bytes.extend_from_slice(archive);
    bytes
}
