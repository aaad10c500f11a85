//! What goes wrong around a loop: it says so, and loses nothing.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use serde_json::Value;

use super::*;

/// What a server does with a request.
#[derive(Clone)]
enum Does {
    /// Closes the connection without a word.
    Closes,
    /// Says this, whatever it is.
    Says(&'static [u8]),
    /// Streams the response but for so many events at its end.
    Breaks(usize),
    /// Streams the response, with this event in the place of its last.
    Fails(Value),
    /// Streams this one.
    Streams(Vec<Value>),
    /// Answers as it should.
    Answers,
}

/// What a server was sent that does this, while `work` ran.
fn serving(format: Format, does: &[Does], work: impl FnOnce(&str)) -> Vec<String> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (seen, does) = (Arc::new(Mutex::new(Vec::new())), does.to_vec());
    let bodies = Arc::clone(&seen);
    std::thread::spawn(move || {
        for does in does {
            let (stream, body) = scripted::receive(listener.accept().unwrap().0).unwrap();
            bodies.lock().unwrap().push(body.clone());
            respond(stream, &body, format, does);
        }
    });
    work(&address);
    Mutex::lock(&seen).unwrap().clone()
}

fn respond(mut stream: TcpStream, body: &str, format: Format, does: Does) {
    let mut events = scripted::answer(format, &script(1), body);
    match does {
        Does::Closes => return,
        Does::Says(bytes) => return stream.write_all(bytes).unwrap(),
        Does::Breaks(lacks) => events.truncate(events.len().saturating_sub(lacks)),
        Does::Fails(event) => *events.last_mut().unwrap() = event,
        Does::Streams(others) => events = others,
        Does::Answers => {}
    }
    scripted::reply(stream, &events).unwrap();
}

fn opened(folder: &Path, format: Format, address: &str) -> Agent {
    let provider = Provider::new(format, address, "key", "model");
    Agent::open(folder, policy(Lane::History, 1), provider, NEVER).unwrap()
}

/// Whatever a server says that is no response, the error tells, the history is as before, and the request is sent
/// again as it was: it is the same request.
#[test]
fn what_is_no_response() {
    let fault = |format| match format {
        Format::Responses => {
            json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "overloaded"}}})
        }
        Format::Anthropic => json!({"type": "error", "error": {"type": "overloaded_error", "message": "overloaded"}}),
        Format::Chat | Format::Gemini => json!({"error": {"code": 503, "message": "overloaded"}}),
    };
    for format in Format::ALL {
        let faults = [
            (Does::Closes, ""),
            (Does::Says(b"HTTP/1.1 200 OK\r\ncontent-le"), ""),
            (Does::Says(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 99\r\n\r\ndata: {}\n"), ""),
            (
                Does::Says(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"),
                "before the response did",
            ),
            (
                Does::Says(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 12\r\n\r\n<p>Log in</p"),
                "<p>Log in</p",
            ),
            (Does::Says(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 12\r\n\r\ndata: <html>"), "<html>"),
            (
                Does::Says(b"HTTP/1.1 429 Slow\r\nconnection: close\r\ncontent-length: 9\r\n\r\nslow\x1b[2J\xff"),
                "429 Too Many Requests: slow\\u{1b}",
            ),
            (Does::Says(b"HTTP/1.1 500 No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"), "500"),
            (Does::Breaks(1), "before the response did"),
            (Does::Breaks(2), "before the response did"),
            (Does::Breaks(3), "before the response did"),
            (Does::Fails(fault(format)), "overloaded"),
        ];
        let does: Vec<Does> =
            faults.iter().map(|(does, _)| does.clone()).chain(std::iter::repeat_n(Does::Answers, 3)).collect();
        let folder = tempfile::tempdir().unwrap();
        let seen = serving(format, &does, |address| {
            let mut agent = opened(folder.path(), format, address);
            let mut said = agent.say("Do it.");
            for (_, tells) in &faults {
                let error = said.unwrap_err().to_string();
                assert!(screen::plain(&error).contains(tells), "{format}: {error}");
                assert!(agent.is_unfinished(), "{format}");
                said = agent.run();
            }
            said.unwrap();
            assert!(!agent.is_unfinished(), "{format}");
        });
        assert!(seen[1..=faults.len()].iter().all(|body| *body == seen[0]), "{format}: {seen:#?}");
        let requests = logged(folder.path()).into_iter().filter(|event| event.starts_with("RequestSent"));
        assert_eq!(requests.count(), 3, "{format}");
    }
}

/// L13: what a person changes while a request is out is told with the next one, once, whether the process ends
/// meanwhile or not.
#[test]
fn an_edit_while_a_request_is_out() {
    for ends in [false, true] {
        let (format, folder) = (Format::Chat, tempfile::tempdir().unwrap());
        let does = [Does::Closes, Does::Answers, Does::Answers, Does::Answers];
        let seen = serving(format, &does, |address| {
            let mut agent = opened(folder.path(), format, address);
            assert!(agent.say("Do it.").is_err());
            agent.edit("TaskCreate", r#"{"subject":"By hand","description":"d"}"#).unwrap();
            if ends {
                drop(agent);
                agent = opened(folder.path(), format, address);
            }
            agent.run().unwrap();
        });
        assert_eq!(seen[1], seen[0]);
        assert_eq!(seen[2].matches("the user changed the list. Take it").count(), 1, "{}", seen[2]);
    }
}

/// E1: what the provider paused is sent back as it is, as the same request; a person's words wait until it has ended.
#[test]
fn a_paused_turn_goes_on() {
    let search = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}});
    let paused = Does::Streams(vec![
        json!({"type": "content_block_start", "index": 0, "content_block": search}),
        json!({"type": "message_delta", "delta": {"stop_reason": "pause_turn"}}),
    ]);
    for ends in [false, true] {
        let (format, folder) = (Format::Anthropic, tempfile::tempdir().unwrap());
        let does = [&[paused.clone(), Does::Closes][..], &vec![Does::Answers; 4]].concat();
        let seen = serving(format, &does, |address| {
            let mut agent = opened(folder.path(), format, address);
            assert!(agent.say("Do it.").is_err());
            if ends {
                drop(agent);
                agent = opened(folder.path(), format, address);
            }
            agent.say("And then?").unwrap();
        });
        assert_eq!(seen[2], seen[1]);
        assert!(seen[1].starts_with(seen[0].trim_end_matches("]}")) && seen[1].contains("web_search"), "{}", seen[1]);
        assert!(!seen[4].contains("And then?") && seen[5].contains("And then?"));
        let requests = logged(folder.path()).into_iter().filter(|event| event.starts_with("RequestSent"));
        assert_eq!(requests.count(), 4);
    }
}

/// A compaction that gets no summary deletes nothing.
#[test]
fn an_empty_summary() {
    let (format, folder) = (Format::Anthropic, tempfile::tempdir().unwrap());
    let silent = Does::Streams(vec![json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})]);
    let does = [&vec![Does::Answers; 3][..], &[silent]].concat();
    serving(format, &does, |address| {
        let mut agent = opened(folder.path(), format, address);
        agent.say("Do it.").unwrap();
        let before = messages(&stored(folder.path(), format));
        assert!(agent.compact().unwrap_err().to_string().contains("empty summary"));
        assert_eq!(messages(&stored(folder.path(), format)), before);
    });
}

/// A journal whose last line ends in the midst of a character goes on before it. One that is damaged elsewhere is
/// told of, and left as it is.
#[test]
fn a_torn_line() {
    let (format, folder) = (Format::Chat, tempfile::tempdir().unwrap());
    serving(format, &vec![Does::Answers; 3], |address| opened(folder.path(), format, address).say("Do it.").unwrap());
    let (path, before) = (folder.path().join("session.jsonl"), messages(&stored(folder.path(), format)));
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [&whole[..], &[b'x'; 5_000], "é".as_bytes().split_last().unwrap().1].concat()).unwrap();
    drop(opened(folder.path(), format, ""));
    assert!(fs::read(&path).unwrap().ends_with(b"\n"));
    assert_eq!(messages(&stored(folder.path(), format)), before);

    let mut lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    lines[2] = &lines[2][..9];
    let torn = lines.concat();
    fs::write(&path, &torn).unwrap();
    let provider = Provider::new(format, "", "key", "model");
    let error = Agent::open(folder.path(), policy(Lane::History, 1), provider, NEVER).err().unwrap().to_string();
    assert!(error.contains("session.jsonl: line 3: "), "{error}");
    assert_eq!(fs::read(&path).unwrap(), torn);
}

/// What was said stands in a folder that its owner alone may enter.
#[cfg(unix)]
#[test]
fn a_folder_of_its_own() {
    use std::os::unix::fs::PermissionsExt;
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("new/session");
    drop(opened(&folder, Format::Chat, ""));
    assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
}

/// The agent in a process of its own, whose files have room for some more bytes after each error.
#[test]
fn full_disk_process() {
    let Some(folder) = std::env::var_os("AGENT_FULL") else { return };
    let (format, address) = (Format::Anthropic, std::env::var("AGENT_ADDRESS").unwrap());
    let room = |bytes: &str| {
        let process = std::process::id().to_string();
        let limit = Command::new("prlimit").args(["--pid", &process, &format!("--fsize={bytes}:unlimited")]).status();
        assert!(limit.unwrap().success());
    };
    let provider = Provider::new(format, &address, "key", "model");
    let mut agent = Agent::open(Path::new(&folder), policy(Lane::History, 3), provider, 2_500).unwrap();
    let mut errors = 0;
    room("600");
    let mut said = agent.say("Do it.");
    while let Err(error) = said {
        assert!(error.to_string().contains("File too large"), "{error}");
        errors += 1;
        room(&(600 + errors * 250).to_string());
        said = agent.run();
    }
    assert!(errors > 20, "{errors}");
}

/// A disk that is full every now and then: the same requests are sent as on one that
/// never is, each once, and the same is stored.
#[test]
fn a_full_disk() {
    if Command::new("prlimit").arg("--version").stdout(Stdio::null()).status().is_err() {
        std::io::stderr().write_all(b"SKIPPED: a full disk: no prlimit on the path\n").unwrap();
        return;
    }
    let format = Format::Anthropic;
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::start(format, script(14)).unwrap());
    open(folder.path(), &server, format, &policy(Lane::History, 3), 2_500).say("Do it.").unwrap();

    let (full, again) = (tempfile::tempdir().unwrap(), Server::start(format, script(14)).unwrap());
    let ended = Command::new("sh")
        .args(["-c", r#"trap "" XFSZ; exec "$0" "$@""#])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "faults::full_disk_process"])
        .env("AGENT_FULL", full.path())
        .env("AGENT_ADDRESS", &again.address)
        .stdout(Stdio::null())
        .status();
    assert!(ended.unwrap().success());
    assert_eq!(bodies(&again), bodies(&server));
    assert_eq!(messages(&stored(full.path(), format)), messages(&stored(folder.path(), format)));
    assert_eq!(logged(full.path()), logged(folder.path()));
}

/// R3: of two calls that share an id both are answered, and the session is opened again as it was.
#[test]
fn calls_of_one_id() {
    let (format, folder) = (Format::Chat, tempfile::tempdir().unwrap());
    let call = |index: usize| {
        let arguments = json!({"subject": format!("Task {index}"), "description": "d"}).to_string();
        json!({"index": index, "id": "a", "function": {"name": "TaskCreate", "arguments": arguments}})
    };
    let delta = json!({"tool_calls": [call(0), call(1)]});
    let twice = Does::Streams(vec![json!({"choices": [{"delta": delta, "finish_reason": "tool_calls"}]})]);
    let does = [&[twice][..], &vec![Does::Answers; 3]].concat();
    serving(format, &does, |address| opened(folder.path(), format, address).say("Do it.").unwrap());
    let before = logged(folder.path());
    drop(opened(folder.path(), format, ""));
    assert_eq!(logged(folder.path()), before);
}
