//! The loop: a generation, saved and shown, and the next one.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Instant;

use anyhow::Result;
use batt_evolve::Evolution;

use super::EvolveArgs;
use super::keeper::{Keeper, SaveOutcome};
use super::progress::{Event, Progress};
use super::view::View;
use crate::device::Cards;
use crate::interrupt;
use crate::ui::Ui;

/// An evolution under way.
pub struct Course<'c, 't> {
    args: &'c EvolveArgs,
    evolution: Evolution<'t>,
    keeper: &'c mut Keeper,
    progress: Progress<'t>,
    /// What happened and has not been told, because it is not saved yet.
    untold: Vec<Event>,
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
            untold: Vec::new(),
            ui,
        }
    }

    /// Goes on until all is found, the time is over, there were enough generations, or somebody presses Ctrl-C. What was
    /// found is saved then, unless there is an error.
    pub fn run(&mut self, cards: &mut Cards, deadline: Option<Instant>) -> Result<()> {
        let stop = interrupt::stop();
        let clock = deadline.map(Clock::start);
        let mut view = View::new(self.args, cards.len(), deadline, self.ui);
        let mut left = self.args.generations.unwrap_or(u64::MAX);
        view.show(&self.progress, self.keeper);
        while left > 0 && !stop.load(Ordering::Relaxed) && !self.evolution.is_done() {
            let round = self.evolution.round(cards, stop);
            self.untold
                .extend(self.progress.add(&self.evolution, &round));
            self.keeper.take(self.evolution.tasks(), round.found);
            self.save(&mut view, false)?;
            view.show(&self.progress, self.keeper);
            left -= 1;
        }
        drop(clock);
        self.progress.end();
        while !self.save(&mut view, true)? {}
        view.close();
        Ok(())
    }

    /// Saves, and tells what happened once that is done. False if it has to be tried again.
    fn save(&mut self, view: &mut View<'_>, is_last: bool) -> Result<bool> {
        let kept: Option<HashSet<String>> = match self.keeper.save(&self.evolution, is_last) {
            Ok(SaveOutcome::Saved(kept)) => Some(kept),
            Ok(SaveOutcome::Nowhere) => None,
            Ok(SaveOutcome::Later(why)) => {
                view.warn(&why);
                return Ok(false);
            }
            Err(error) => {
                self.progress.end();
                view.close();
                return Err(error);
            }
        };
        for event in self.untold.drain(..) {
            let saved = kept.as_ref().map(|kept| kept.contains(&event.best.hash));
            view.tell(&event, saved, self.progress.tasks);
        }
        Ok(true)
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
                interrupt::stop().store(true, Ordering::SeqCst);
            }
        });
        Clock(sender)
    }
}
