//! Provider requests and histories on one side, [`session_todo`]'s events and effects on the other.
//!
//! A loop keeps its messages in a [`History`]. They stay the JSON text that was sent and received: nothing is
//! parsed twice, no field is lost in a struct that does not know it, and what was sent keeps its bytes (E1).
//! The history takes a response in and gives its calls; it takes answers, and writes them as the provider
//! wants them; it takes an effect, and puts it where its lane says. So no loop has to know of lanes, and
//! [`your_loop`] is the same few lines for every provider.
//!
//! | | [`Format::Anthropic`] | [`Format::Chat`] | [`Format::Responses`] | [`Format::Gemini`] |
//! |---|---|---|---|---|
//! | a request's messages | `messages` | `messages` | `input` | `contents` |
//! | a response's answer | `content` | `choices[0].message` | `output`, several items | `candidates[0].content` |
//! | a call | block `tool_use` | `tool_calls[]` | item `function_call` | part `functionCall` |
//! | run by the provider | `server_tool_use` | – | items `…_call` without `call_id`, or with their output behind them | `executableCode` |
//! | its id | `id` | `id` | `call_id` | `id`, may be absent |
//! | its arguments | `input`, an object | `function.arguments`, a string | `arguments`, a string | `args`, an object |
//! | a result | block `tool_result` in the next user message | message of role `tool` | item `function_call_output` | part `functionResponse` in the next user content |
//! | it failed | `is_error` | [`ERROR`] begins its text | [`ERROR`] begins its text | `error` for `output` |
//! | cut at the output limit | `stop_reason: max_tokens` | `finish_reason: length` | `status: incomplete` | `finishReason: MAX_TOKENS` |
//! | to be sent back as it is | `stop_reason: pause_turn` | – | – | – |
//! | a text of ours | text block | message of role `user` | `input_text` in a message | text part, in a content of its own |
//!
//! # What is kept
//!
//! The stored history is a sufficient log of what the model wrote (P3). What is not in it, a user's edit or
//! the state at a compaction, goes into a [`Record`] beside it. [`resume`] folds the two, and says
//! [`WireError::HistoryIncomplete`] where messages are gone and no state stands for them. No text of a message
//! is ever taken for a list.
//!
//! # Before it leaves
//!
//! [`lint`] names what a provider would refuse. [`safe_cut`] says where a history may be cut.

mod anthropic;
mod call;
mod chat;
mod compact;
mod error;
mod format;
mod gemini;
mod history;
mod join;
mod json;
mod lint;
mod put;
mod read;
mod record;
mod responses;
mod turn;

pub use call::{Answer, ERROR, Stage, ToolCall};
pub use error::WireError;
pub use format::{Carrier, Format};
pub use history::{By, History, Message};
pub use lint::{Fault, Wrong, lint, safe_cut};
pub use put::Outgoing;
pub use read::{Resumed, Told, events, resume};
pub use record::{Base, Beside, Record};

#[doc = include_str!("../YOUR_LOOP.md")]
pub mod your_loop {}
