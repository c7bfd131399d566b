//! The command as a library, called by a program with its own signal handlers.

use std::ffi::OsString;

fn run(args: &[&str]) -> u8 {
    batt_cli::run(args.iter().map(OsString::from))
}

#[test]
fn exit_codes_are_returned() {
    assert_eq!(run(&["batt", "ops", "hmirror"]), 0);
    assert_eq!(run(&["batt", "--version"]), 0);
    assert_eq!(run(&["batt", "nonsense"]), 2);
    assert_eq!(run(&["batt"]), 2);
    assert_eq!(run(&[]), 2);
    assert_eq!(run(&["batt", "check", "nowhere.py"]), 2);
}

#[cfg(unix)]
mod signals {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, ChildStdout, Command, Stdio};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use batt_testing::command::Folder;

    use super::run;

    /// The folder of the files, in a process that `host` runs in.
    const FOLDER: &str = "BATT_TEST_HOST";

    /// A batt with some milliseconds of work for every sample.
    const BATT: &str = "
def batt(S, I, C):
    s = []
    o = []
    t1 = interval(ZERO, 300, ONE)
    t2 = product(t1, t1)
    o.append((2, False, 'a', t2))
    return o, s
";

    static CAUGHT: AtomicUsize = AtomicUsize::new(0);

    extern "C" fn caught(_: std::ffi::c_int) {
        CAUGHT.fetch_add(1, Ordering::SeqCst);
    }

    /// A program with a handler of SIGINT. It calls a command, cleans up, and calls another one.
    #[test]
    fn host() {
        let Some(folder) = std::env::var_os(FOLDER) else {
            return;
        };
        std::env::set_current_dir(folder).unwrap();
        let handler: extern "C" fn(std::ffi::c_int) = caught;
        let raise = || {
            // SAFETY: raising a signal has no preconditions.
            unsafe { libc::raise(libc::SIGINT) };
            CAUGHT.load(Ordering::SeqCst)
        };
        // SAFETY: the handler only adds to an atomic.
        unsafe { libc::signal(libc::SIGINT, handler as libc::sighandler_t) };
        assert_eq!(raise(), 1);
        for round in 1..=2 {
            println!("running");
            let args = "batt mega b.py --tasks tasks --full --quiet -o r.jsonl --overwrite";
            let args: Vec<&str> = args.split(' ').collect();
            let code = run(&args);
            println!("returned {code}, caught {}", CAUGHT.load(Ordering::SeqCst));
            // Our own handler is back.
            assert_eq!(raise(), 1 + round);
        }
        println!("running");
        // This command does not finish early. It waits for someone to write to the pipe.
        let code = run(&["batt", "check", "pipe"]);
        println!("returned {code}");
    }

    struct Host {
        child: Child,
        lines: std::io::Lines<BufReader<ChildStdout>>,
    }

    impl Host {
        fn start(folder: &Folder) -> Host {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command
                .args(["--exact", "signals::host", "--nocapture"])
                .env(FOLDER, folder.path(""))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null());
            let mut child = command.spawn().unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            Host { child, lines }
        }

        /// Reads lines until one contains a text, and returns it.
        #[track_caller]
        fn until(&mut self, text: &str) -> String {
            let mut lines = self.lines.by_ref().map(Result::unwrap);
            let found = lines.find(|line| line.contains(text));
            found.unwrap_or_else(|| panic!("no line has {text:?}"))
        }

        fn interrupt(&self) {
            let mut kill = Command::new("kill");
            kill.args(["-INT", &self.child.id().to_string()]);
            assert!(kill.status().unwrap().success());
        }
    }

    #[test]
    fn a_handler_of_the_caller_does_not_see_signals_of_the_command() {
        let folder = Folder::new();
        folder.write("b.py", BATT);
        let pair = "{\"input\": [[1]], \"output\": [[1]]}";
        folder.write("tasks/t.json", format!("[{}]", vec![pair; 5000].join(",")));
        let (lines, pipe) = (folder.path("r.jsonl.part"), folder.path("pipe"));
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        let mut host = Host::start(&folder);
        for round in 1..=2 {
            host.until("running");
            // Lines come after the command has installed its handler.
            let begun = Instant::now();
            while std::fs::metadata(&lines).map_or(0, |lines| lines.len()) == 0 {
                assert!(begun.elapsed().as_secs() < 60, "no line came");
                std::thread::sleep(Duration::from_millis(5));
            }
            host.interrupt();
            let line = host.until("returned");
            assert!(
                line.ends_with(&format!("returned 130, caught {round}")),
                "{line}"
            );
            std::fs::remove_file(&lines).unwrap();
        }
        host.until("running");
        // This waits until the command opens the pipe.
        let pipe = std::fs::OpenOptions::new().write(true).open(pipe).unwrap();
        host.interrupt();
        let status = host.child.wait().unwrap();
        assert_eq!(status.signal(), Some(libc::SIGINT), "{status}");
        drop(pipe);
    }
}
