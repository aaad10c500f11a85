//! Every bound of the state, with its reason. Past one the call is refused; nothing is ever cut (L10).

/// Items on the list, and entries in one call. Real lists have at most 29 items; ten times that is a
/// model in a loop.
pub const ITEMS: usize = 256;
/// Bytes of an item's content. It is a line that a model reads again and again, not a document.
pub const CONTENT: usize = 4 * 1024;
/// Bytes of an item's description.
pub const DESCRIPTION: usize = 16 * 1024;
/// Bytes of an id in its shown form. The longest that a product issues are UUIDs with a prefix.
pub const ID: usize = 128;
/// Extras of one item.
pub const EXTRAS: usize = 32;
/// Bytes of one item's extras, keys and values together.
pub const EXTRA_BYTES: usize = 8 * 1024;
/// Bytes of all ids and contents, each in its shown form or raw, whichever is longer. What a model rewrites it must see whole, so this
/// bounds what every reminder, result and snapshot can cost: about 4,000 tokens.
pub const SHOWN: usize = 16 * 1024;
/// Bytes of all fields of all items together: what a stored state can cost.
pub const FIELDS: usize = 256 * 1024;
/// Bytes of one call's arguments. More than the largest snapshot, so that what we inject can be given
/// back to us.
pub const ARGUMENTS: usize = 512 * 1024;

/// Items that a capped list shows (T4).
pub(crate) const CAPPED_ITEMS: usize = 50;
/// Bytes that a capped list shows (T4).
pub(crate) const CAPPED_BYTES: usize = 4 * 1024;
/// Bytes of one content in a capped list (T4).
pub(crate) const CAPPED_CONTENT: usize = 200;
/// Bytes of a refusal (C14). It costs tokens on every retry.
pub(crate) const REFUSAL: usize = 300;

/// Bytes that one byte can become in a snapshot's JSON: `\uXXXX`.
const ESCAPED: usize = 6;
/// Bytes of a snapshot around one item: keys, quotes, status, line break.
const AROUND_ITEM: usize = 64;
/// Bytes of a snapshot that are not items.
const AROUND_LIST: usize = 1024;

const _: () = assert!(
    ARGUMENTS > SHOWN * ESCAPED + ITEMS * AROUND_ITEM + AROUND_LIST,
    "the largest snapshot must be a readable argument"
);
