//! Runs other programs in a process group of their own, with a time limit and a limit on the output that is
//! kept.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use guardbit_files::{Registered, at_interrupt};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Number of bytes that are kept of the beginning of an output, and of its end.
const KEPT: usize = 1 << 18;
/// Interval between two checks of a running program.
const PAUSE: Duration = Duration::from_millis(10);
/// Time to wait for output after the program has ended, because one of its children may keep the pipe open.
const LATE: Duration = Duration::from_secs(2);

/// Result of a program.
pub(crate) struct Ended {
    /// Exit status; `None` if the program was stopped at the time limit.
    pub status: Option<ExitStatus>,
    /// Its output, without the middle if it is long.
    pub text: String,
}

/// Runs `command` for at most `limit`, then ends every process that it has started.
pub(super) fn run(mut command: Command, limit: Duration) -> io::Result<Ended> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut running = Running::new(command.spawn()?);
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

/// Program with a process group of its own, which is ended on drop.
struct Running(Child, #[expect(dead_code, reason = "kept until dropped")] Registered);

impl Running {
    /// A signal that ends this process does not reach the other group by itself, so the group is registered.
    fn new(child: Child) -> Self {
        let registered = at_interrupt(kill_group, child.id());
        Self(child, registered)
    }

    fn group(&self) -> Option<Pid> {
        group(self.0.id())
    }

    /// Returns whether the program has ended. It is not reaped here, so that its process number stays
    /// reserved.
    fn has_ended(&self) -> io::Result<bool> {
        let Some(program) = self.group() else { return Ok(true) };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(program), look)?.is_some())
    }

    /// Ends the group.
    fn end(&mut self) -> io::Result<ExitStatus> {
        kill_group(self.0.id());
        self.0.wait()
    }
}

fn group(id: u32) -> Option<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw)
}

fn kill_group(id: u32) {
    if let Some(group) = group(id) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A program that was reaped needs no end.
        if !matches!(self.0.try_wait(), Ok(Some(_))) {
            let _ = self.end();
        }
    }
}

/// Reads `pipe` to its end on a thread and sends the kept output.
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
        // The receiver may be gone.
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
