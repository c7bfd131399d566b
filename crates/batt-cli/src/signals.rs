//! The actions of SIGINT, SIGTERM and SIGHUP. A command replaces those of its caller and restores
//! them at its end.
//!
//! A handler may do next to nothing, so ours writes the number of the signal to a pipe. A thread
//! reads the pipe.

use std::ffi::c_int;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::IntoRawFd;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;

const SIGNALS: [c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// The end of the pipe to which the handler writes. It stays open until the process ends.
static PIPE: AtomicI32 = AtomicI32::new(-1);

/// The actions of the caller. Dropping this restores them.
pub struct Actions(Vec<(c_int, libc::sigaction)>);

/// Replaces the caller's handlers by the default action. Ignored signals stay ignored.
pub fn use_defaults() -> Actions {
    let mut before = Vec::new();
    for signal in SIGNALS {
        let mut action = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: the pointers are valid or null. A result of 0 says that the action was written.
        unsafe {
            if libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) != 0 {
                continue;
            }
            let action = action.assume_init();
            if action.sa_sigaction != libc::SIG_IGN {
                libc::signal(signal, libc::SIG_DFL);
            }
            before.push((signal, action));
        }
    }
    Actions(before)
}

impl Drop for Actions {
    fn drop(&mut self) {
        for (signal, action) in &self.0 {
            // SAFETY: the system has returned this action for this signal.
            unsafe { libc::sigaction(*signal, action, ptr::null_mut()) };
        }
    }
}

/// Starts the thread that calls a function for each signal, with 128 plus its number.
pub fn listen(mut handle: impl FnMut(u8) + Send + 'static) -> io::Result<()> {
    let (mut reader, writer) = io::pipe()?;
    thread::Builder::new().spawn(move || {
        let mut signal = [0];
        while reader.read_exact(&mut signal).is_ok() {
            handle(128 + signal[0]);
        }
    })?;
    PIPE.store(writer.into_raw_fd(), Ordering::SeqCst);
    Ok(())
}

/// Installs the handler of a command. Does nothing if no thread listens. SIGHUP stays ignored if it
/// is, because that is how `nohup` works.
pub fn use_handler() {
    if PIPE.load(Ordering::SeqCst) < 0 {
        return;
    }
    for signal in SIGNALS {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: a zeroed action is valid, and the pointers are. The handler only loads an atomic
        // and writes to a file descriptor, which is allowed at any moment.
        unsafe {
            let mut before = MaybeUninit::<libc::sigaction>::zeroed();
            libc::sigaction(signal, ptr::null(), before.as_mut_ptr());
            let is_ignored = before.assume_init().sa_sigaction == libc::SIG_IGN;
            if signal == libc::SIGHUP && is_ignored {
                continue;
            }
            let handler: extern "C" fn(c_int) = write_to_pipe;
            (*action.as_mut_ptr()).sa_sigaction = handler as libc::sighandler_t;
            (*action.as_mut_ptr()).sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, action.as_ptr(), ptr::null_mut());
        }
    }
}

extern "C" fn write_to_pipe(signal: c_int) {
    let byte = signal as u8;
    // SAFETY: the byte lives during the call. If the pipe is full, signals have come already.
    unsafe { libc::write(PIPE.load(Ordering::SeqCst), ptr::from_ref(&byte).cast(), 1) };
}
