//! The loop: a generation, saved and shown, and the next one.

use std::collections::HashMap;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Instant;

use anyhow::Result;
use batt_evolve::Evolution;

use super::EvolveArgs;
use super::keeper::Keeper;
use super::progress::Progress;
use super::view::View;
use crate::interrupt;
use crate::ui::Ui;
use batt::Devices;

/// An evolution under way.
pub struct Course<'c, 't> {
    args: &'c EvolveArgs,
    evolution: Evolution<'t>,
    keeper: &'c mut Keeper,
    progress: Progress<'t>,
    ui: &'c Ui,
}

impl<'c, 't> Course<'c, 't> {
    /// An evolution that is about to begin. `origins` says how programs came about that were there before.
    pub fn new(
        args: &'c EvolveArgs,
        evolution: Evolution<'t>,
        keeper: &'c mut Keeper,
        origins: HashMap<String, String>,
        ui: &'c Ui,
    ) -> Course<'c, 't> {
        Course {
            args,
            progress: Progress::new(&evolution, origins),
            evolution,
            keeper,
            ui,
        }
    }

    /// Goes on until all is found, the time is over, there were enough generations, or somebody presses Ctrl-C. What was
    /// found is saved then, unless there is an error.
    pub fn run(&mut self, devices: &mut Devices, deadline: Option<Instant>) -> Result<()> {
        let clock = deadline.map(Clock::start);
        let mut view = View::new(self.args, devices.len(), deadline, self.ui);
        self.keeper.start();
        let ended = self.rounds(devices, &mut view);
        drop(clock);
        self.progress.end();
        let tasks = self.progress.tasks;
        let ended = ended.and_then(|()| {
            self.keeper
                .finish(&self.evolution, |news| view.tell(&news, tasks))
        });
        view.close();
        ended
    }

    fn rounds(&mut self, devices: &mut Devices, view: &mut View<'_>) -> Result<()> {
        let stop = interrupt::stop();
        let mut left = self.args.generations.unwrap_or(u64::MAX);
        view.show(&self.progress, self.keeper);
        while left > 0 && !stop.is_cancelled() && !self.evolution.is_done() {
            let round = self.evolution.round(devices.as_mut(), stop);
            let events = self.progress.add(&self.evolution, &round);
            self.keeper.take(self.evolution.tasks(), round.found);
            for news in self.keeper.save(&self.evolution, events)? {
                view.tell(&news, self.progress.tasks);
            }
            view.show(&self.progress, self.keeper);
            left -= 1;
        }
        Ok(())
    }

    /// How far it has come.
    pub fn finish(self) -> Progress<'t> {
        self.progress
    }
}

/// Sets the stop flag when the time is over. Dropped, it never does.
struct Clock(
    #[expect(dead_code, reason = "its end is what the other end waits for")] mpsc::Sender<()>,
);

impl Clock {
    fn start(deadline: Instant) -> Clock {
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let left = deadline.saturating_duration_since(Instant::now());
            if receiver.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                interrupt::stop().cancel();
            }
        });
        Clock(sender)
    }
}
