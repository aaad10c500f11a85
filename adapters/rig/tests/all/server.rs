//! A provider on loopback that plays a script and keeps what it was sent.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A server that answers each request with the next of its replies. It ends with the last of them.
pub(crate) struct Server {
    pub(crate) url: String,
    bodies: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn playing(replies: Vec<String>, content_type: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&bodies);
        thread::spawn(move || {
            for reply in replies {
                let (stream, _) = listener.accept().unwrap();
                kept.lock().unwrap().push(answer(stream, &reply, content_type));
            }
        });
        Self { url, bodies }
    }

    pub(crate) fn bodies(&self) -> Vec<String> {
        self.bodies.lock().unwrap().clone()
    }
}

/// One request and its reply on a connection of its own: the request's body.
fn answer(mut stream: TcpStream, reply: &str, content_type: &str) -> String {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let size = reply.len();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {size}\r\n");
    write!(stream, "{head}connection: close\r\n\r\n{reply}").unwrap();
    String::from_utf8(body).unwrap()
}
