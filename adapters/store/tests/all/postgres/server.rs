//! A PostgreSQL of the tests' own: in a temporary folder, on a free port of loopback, by a user who is not root.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) struct Server {
    programs: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
    databases: AtomicU64,
}

impl Server {
    /// None, and a line that says so, where PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            // Not by eprintln!, which the test harness keeps to itself.
            let why = b"SKIPPED: no PostgreSQL: neither initdb on the path nor in /usr/lib/postgresql\n";
            std::io::stderr().write_all(why).unwrap();
            return None;
        };
        let folder = tempfile::Builder::new().prefix("session-todo-postgres").tempdir().unwrap();
        // A port that is free now; nobody takes it in the moment that follows, or the start fails and says so.
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let server = Self { programs, folder, port, databases: AtomicU64::new(0) };
        if is_root() {
            succeed(Command::new("chown").arg("postgres").arg(server.folder.path()));
        }
        succeed(
            server
                .program("initdb")
                .args(["-U", "test", "-A", "trust", "-E", "UTF8", "--no-sync", "-D"])
                .arg(server.data()),
        );
        // Durable as it comes; no socket but the loopback's.
        let settings = format!("listen_addresses='127.0.0.1'\nport={port}\nunix_socket_directories=''\n");
        let file = server.data().join("postgresql.conf");
        let defaults = fs::read_to_string(&file).unwrap();
        fs::write(&file, defaults + &settings).unwrap();
        server.control(&["start"]);
        Some(server)
    }

    /// The URL of a new, empty database.
    pub(crate) fn database(&self) -> String {
        let name = format!("d{}", self.databases.fetch_add(1, Ordering::Relaxed));
        Self::sql(&self.url("postgres"), &format!("CREATE DATABASE {name}"));
        self.url(&name)
    }

    /// What holds for all who connect to this database from now on.
    pub(crate) fn set(url: &str, name: &str, value: &str) {
        let (_, database) = url.rsplit_once('/').unwrap();
        Self::sql(url, &format!("ALTER DATABASE {database} SET {name} = '{value}'"));
    }

    pub(crate) fn sql(url: &str, statement: &str) {
        let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
        client.batch_execute(statement).unwrap();
    }

    /// As after a crash: no farewell to anyone, and what was committed comes from the write-ahead log.
    pub(crate) fn restart(&self) {
        self.control(&["restart", "-m", "immediate"]);
    }

    fn url(&self, database: &str) -> String {
        format!("postgres://test@127.0.0.1:{}/{database}", self.port)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn control(&self, what: &[&str]) {
        let log = self.folder.path().join("log");
        succeed(self.program("pg_ctl").args(what).args(["-w", "-s", "-D"]).arg(self.data()).arg("-l").arg(log));
    }

    /// A program of PostgreSQL, which refuses to be run by root.
    fn program(&self, name: &str) -> Command {
        let path = self.programs.join(name);
        let mut command = if is_root() { Command::new("runuser") } else { Command::new(&path) };
        if is_root() {
            command.args(["-u", "postgres", "--"]).arg(&path);
        }
        command.current_dir("/").stdin(Stdio::null());
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let stop = self.program("pg_ctl").args(["stop", "-m", "immediate", "-w", "-s", "-D"]).arg(self.data()).status();
        if !stop.is_ok_and(|status| status.success()) {
            eprintln!("PostgreSQL at port {} could not be stopped", self.port);
        }
    }
}

/// Output goes to files: a server that is left running would keep a pipe open, and the reader waiting.
fn succeed(command: &mut Command) {
    let output = tempfile::tempfile().unwrap();
    let status = command.stdout(output.try_clone().unwrap()).stderr(output).status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0)
}

/// Where Debian keeps them, the newest first; else what the path has.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut debian: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    debian.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let others = std::env::split_paths(&path).collect::<Vec<_>>();
    debian.into_iter().rev().chain(others).find(|folder| Path::join(folder, "initdb").exists())
}
