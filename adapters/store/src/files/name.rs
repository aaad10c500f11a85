//! Session ids as names of files: `a-z 0-9 _ -` stay, every other byte is `%xx`, and so is a leading `-` and the
//! first letter of a name that is a device on Windows. That can be turned back, so two ids never share a file, also
//! where a file system does not tell case apart, and no id leaves the folder.

use crate::id::SessionId;

pub(crate) const LOG: &str = ".jsonl";

/// The name without its ending.
pub(crate) fn of(id: &SessionId) -> String {
    let mut name = String::with_capacity(id.as_str().len());
    for (at, byte) in id.as_str().bytes().enumerate() {
        let may_stay = at > 0 || byte != b'-' && !is_device(id.as_str());
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' if may_stay => name.push(char::from(byte)),
            _ => name.extend(['%', digit(byte >> 4), digit(byte & 15)]),
        }
    }
    name
}

/// Whether Windows takes a file of this name for a device, whatever its ending.
fn is_device(name: &str) -> bool {
    let port = name.strip_suffix(|last: char| last.is_ascii_digit());
    matches!(name, "con" | "prn" | "aux" | "nul") || matches!(port, Some("com" | "lpt"))
}

fn digit(value: u8) -> char {
    char::from_digit(value.into(), 16).unwrap_or('0')
}

/// The session whose log has this name. None for a file that is not ours.
pub(crate) fn session(file: &str) -> Option<SessionId> {
    let name = file.strip_suffix(LOG)?;
    let mut pieces = name.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    let id = SessionId::new(String::from_utf8(bytes).ok()?).ok()?;
    (of(&id) == name).then_some(id)
}
