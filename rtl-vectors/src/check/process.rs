//! Other programs: in a process group of their own, with a time limit, and no more of their output than is looked at.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Bytes that are kept of the beginning of an output, and as many of its end.
const KEPT: usize = 1 << 18;
/// Between two looks at a program that runs.
const PAUSE: Duration = Duration::from_millis(10);
/// How long output may come after the program has ended: a child of it may hold the pipe.
const LATE: Duration = Duration::from_secs(2);

/// How a program ended.
pub(super) struct Ended {
    /// None if it was stopped at the time limit.
    pub status: Option<ExitStatus>,
    /// What it printed, without the middle where that is long.
    pub text: String,
}

/// Groups that run now.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn running() -> MutexGuard<'static, Vec<Pid>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends every simulator that runs, with all that it has started: for the handler of a signal that ends the process. They
/// are in process groups of their own, which a terminal's Ctrl-C does not reach.
pub fn stop_simulators() {
    for group in running().iter() {
        let _ = kill_process_group(*group, Signal::KILL);
    }
}

/// Runs `command` for at most `limit`; whatever it has started ends with it.
pub(super) fn run(mut command: Command, limit: Duration) -> io::Result<Ended> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut running = Running::start(command)?;
    let outputs = [
        running.0.stdout.take().map(|pipe| kept(Box::new(pipe))),
        running.0.stderr.take().map(|pipe| kept(Box::new(pipe))),
    ];
    let end = Instant::now() + limit;
    while !running.has_ended()? && Instant::now() < end {
        thread::sleep(PAUSE);
    }
    let is_late = !running.has_ended()?;
    let status = running.end()?;
    let texts = outputs.into_iter().flatten().map(|output| output.recv_timeout(LATE).unwrap_or_default());
    Ok(Ended { status: (!is_late).then_some(status), text: texts.collect() })
}

/// A program with a process group of its own, which ends with this.
struct Running(Child);

impl Running {
    fn start(mut command: Command) -> io::Result<Self> {
        // Held while it starts: what is stopped is stopped whole.
        let mut all = running();
        let started = Self(command.spawn()?);
        all.extend(started.group());
        Ok(started)
    }

    fn group(&self) -> Option<Pid> {
        i32::try_from(self.0.id()).ok().and_then(Pid::from_raw)
    }

    /// Whether the program has ended. It is not waited for: until then its number is nobody else's.
    fn has_ended(&self) -> io::Result<bool> {
        let Some(program) = self.group() else { return Ok(true) };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(program), look)?.is_some())
    }

    /// Ends the group.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(group) = self.group() {
            let _ = kill_process_group(group, Signal::KILL);
            running().retain(|other| *other != group);
        }
        self.0.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Nothing is left to be ended where it was waited for.
        if !matches!(self.0.try_wait(), Ok(Some(_))) {
            let _ = self.end();
        }
    }
}

/// Reads `pipe` to its end and hands over what is kept of it.
fn kept(mut pipe: Box<dyn Read + Send>) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let (mut head, mut tail) = (Vec::new(), VecDeque::<u8>::new());
        let mut buffer = [0; 8192];
        loop {
            let read = match pipe.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let to_head = read.min(KEPT - head.len());
            head.extend_from_slice(&buffer[..to_head]);
            tail.extend(&buffer[to_head..read]);
            tail.drain(..tail.len().saturating_sub(KEPT));
        }
        head.extend(tail);
        // Nobody may be waiting any more.
        let _ = sender.send(String::from_utf8_lossy(&head).into_owned());
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Ended {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, limit).unwrap()
    }

    #[test]
    fn what_runs_too_long_ends_with_all_that_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let late = dir.path().join("late");
        let script = format!("echo begun; (sleep 2; touch {}) & sleep 60", late.display());
        let start = Instant::now();
        let ended = shell(&script, Duration::from_millis(300));
        assert!(ended.status.is_none() && ended.text.contains("begun"));
        assert!(start.elapsed() < Duration::from_secs(20));
        thread::sleep(Duration::from_secs(3));
        assert!(!late.exists(), "a child lives on");
    }

    #[test]
    fn output_without_end_is_not_kept() {
        let ended = shell("echo first; yes | head -c 20000000; echo last", Duration::from_secs(60));
        assert!(ended.status.unwrap().success());
        assert!(ended.text.len() <= 2 * KEPT, "{}", ended.text.len());
        assert!(ended.text.starts_with("first\n") && ended.text.ends_with("last\n"));
    }
}
