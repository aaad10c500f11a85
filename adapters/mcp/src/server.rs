use std::io;
use std::sync::{Mutex, PoisonError};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation, JsonObject,
    ListToolsResult, MetaObject, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool as Offered,
    ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError};
use rmcp::{ServerHandler, ServiceExt};
use serde_json::Value;
use session_todo::{Call, Caller, Effect, Event, Outcome, Policy, Tool, ToolDef, ToolResult};
use session_todo_store::{SessionId, Store, StoreError, transaction};
use tokio::io::{BufReader, duplex, stdin, stdout};
use tokio::runtime::Builder;

use crate::lines;

/// Bytes between standard input and `rmcp`.
const BETWEEN: usize = 64 * 1024;
/// Claude Code offers a tool that says so at once, where others wait to be searched for.
const AT_ONCE: &str = "anthropic/alwaysLoad";

/// The tools of one session's list.
pub struct Server<S> {
    tools: Vec<Offered>,
    policy: Policy,
    session: SessionId,
    store: Mutex<S>,
    whose: Box<Whose>,
}

type Whose = dyn Fn(&JsonObject) -> Option<(SessionId, Caller)> + Send + Sync;

/// Why a server ended otherwise than by its client's wish.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failed {
    /// There is no thread to run on.
    #[error("can't start: {0}")]
    Start(#[from] io::Error),
    /// The client did not begin as the protocol says, or is gone.
    #[error("the client did not begin: {0}")]
    Begin(#[from] Box<ServerInitializeError>),
    /// The protocol's part broke down.
    #[error("the server broke down: {0}")]
    Broke(String),
}

impl<S: Store + Send + 'static> Server<S> {
    /// A server of this session, whose log is in the store, that offers these tools. A session without a log
    /// begins under the policy; one that has a log keeps its own.
    ///
    /// # Errors
    ///
    /// A definition whose schema is no JSON object.
    pub fn new(
        store: S,
        session: SessionId,
        policy: Policy,
        tools: impl IntoIterator<Item = ToolDef>,
    ) -> serde_json::Result<Self> {
        let tools = tools.into_iter().map(|tool| offered(&tool)).collect::<Result<_, _>>()?;
        Ok(Self { tools, policy, session, store: Mutex::new(store), whose: Box::new(|_| None) })
    }

    /// Asks this which session a call is of and who makes it, by the `_meta` of its request. Where it does not say, and
    /// the protocol itself does not, a call is main's, of this server's session.
    #[must_use]
    pub fn with_whose(
        self,
        whose: impl Fn(&JsonObject) -> Option<(SessionId, Caller)> + Send + Sync + 'static,
    ) -> Self {
        Self { whose: Box::new(whose), ..self }
    }

    /// Serves the client on standard input and output until it closes them.
    ///
    /// # Errors
    ///
    /// A client that does not begin with the protocol's greeting.
    pub fn serve(self) -> Result<(), Failed> {
        // Calls are carried out one by one, in the order in which they came (L12): on one thread, and without
        // a pause inside.
        let runtime = Builder::new_current_thread().enable_time().build()?;
        let done = runtime.block_on(async {
            let (wrapped, lines) = duplex(BETWEEN);
            tokio::spawn(lines::pass_on(BufReader::new(stdin()), wrapped));
            let running = ServiceExt::serve(self, (lines, stdout())).await.map_err(Box::new)?;
            running.waiting().await.map_err(|error| Failed::Broke(error.to_string()))
        });
        // A read of standard input can't be called off, and nobody waits for it.
        runtime.shutdown_background();
        done.map(|_| ())
    }

    fn step(&self, meta: &JsonObject, name: &str, arguments: &str) -> Result<Option<Effect>, StoreError> {
        let (session, by) = (self.whose)(meta).unwrap_or_else(|| (self.session.clone(), Caller::Main));
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let (effect, _) = transaction(&mut *store, &session, &self.policy, |work| {
            work.step(Event::ToolCalled(Call {
                by,
                name: name.into(),
                arguments: arguments.into(),
                outcome: Outcome::Ours,
            }))
        })?;
        Ok(effect)
    }
}

impl<S: Store + Send + 'static> ServerHandler for Server<S> {
    fn get_info(&self) -> ServerConfig {
        let info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("session-todo", env!("CARGO_PKG_VERSION")));
        match self.policy.guidance() {
            "" => info,
            guidance => info.with_instructions(guidance),
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        request: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if Tool::named(&call.name).is_none() {
            return Err(unknown(&call.name, &self.tools));
        }
        let ToolResult { text, is_error } =
            match self.step(&request.meta, &call.name, &lines::unwrapped(call.arguments)) {
                Ok(Some(Effect::ReturnToolResult(result))) => result,
                Ok(_) => return Err(ErrorData::internal_error("the call was logged, and has no answer", None)),
                Err(error) => ToolResult { text: format!("Nothing was changed: {error}"), is_error: true },
            };
        let content = vec![ContentBlock::text(text)];
        Ok(if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) }.into())
    }
}

fn offered(tool: &ToolDef) -> serde_json::Result<Offered> {
    let schema: JsonObject = serde_json::from_str(&tool.schema)?;
    let reads = Tool::named(tool.name).is_some_and(|tool| !tool.writes());
    // What a write takes off the list is still in the log.
    let hints = ToolAnnotations::new().read_only(reads).destructive(false).open_world(false);
    let meta = JsonObject::from_iter([(AT_ONCE.to_owned(), Value::Bool(true))]);
    Ok(Offered::new(tool.name, tool.description, schema).with_annotations(hints).with_meta(MetaObject(meta)))
}

fn unknown(name: &str, tools: &[Offered]) -> ErrorData {
    let known: Vec<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    ErrorData::invalid_params(format!("there is no tool {name:?} here. There are: {}", known.join(", ")), None)
}
