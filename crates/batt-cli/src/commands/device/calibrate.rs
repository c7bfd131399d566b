//! Cards against cores, and what is kept of it.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};

use crate::calibration::{Calibration, LONG, Machine, Measured, Outcome, Store, measure};
use crate::device::{Cards, Device, ready};
use crate::ui::{Ui, grouped, table, table_text};

/// What was measured.
pub struct Measurement {
    measured: Vec<Measured>,
    opening: Duration,
    kept: Calibration,
    /// Where it is kept, or why it is not.
    file: Result<PathBuf, String>,
}

/// Measures all cards as `--device auto` uses them, or the emulated device.
pub fn calibrate(emulated: bool, ui: &Ui) -> Result<Measurement, String> {
    let (mut cards, opening, machine) = open(emulated, ui)?;
    let measured = measure(&mut cards, opening, LONG)?;
    let kept = Calibration::new(machine, Outcome::of(&measured));
    let file = Store::from_env().write(&kept);
    Ok(Measurement {
        measured,
        opening,
        kept,
        file: file.map_err(|error| error.to_string()),
    })
}

fn open(emulated: bool, ui: &Ui) -> Result<(Cards, Duration, Machine), String> {
    if emulated {
        let started = Instant::now();
        let cards = Device::Emulated.open(None, 1, ui);
        let cards = cards.map_err(|error| error.to_string())?;
        let names = cards.iter().map(|card| card.name()).collect();
        let machine = Machine::with_cards(names, "none".to_owned());
        return Ok((cards, started.elapsed(), machine));
    }
    let machine = Machine::of_driver().ok_or("the driver does not name its cards")?;
    let (cards, opening) = ready(ui).map_err(|error| error.to_string())?;
    Ok((cards, opening, machine))
}

impl Measurement {
    pub fn to_json(&self) -> Value {
        let measured = self.measured.iter().map(|measured| {
            json!({
                "runs": measured.runs,
                "cards_seconds": measured.cards.as_secs_f64(),
                "cores_seconds": measured.cores.as_secs_f64(),
            })
        });
        json!({
            "machine": self.kept.machine,
            "opening_seconds": self.opening.as_secs_f64(),
            "measured": measured.collect::<Vec<_>>(),
            "crossover": self.kept.crossover,
            "file": self.file.as_ref().ok(),
            "problem": self.file.as_ref().err(),
        })
    }

    pub fn write(&self, out: &mut impl Write) -> Result<()> {
        let machine = &self.kept.machine;
        let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
        writeln!(
            out,
            "\n{} against {} cores; the time on cards includes {} for opening them:",
            machine.cards.join(", "),
            machine.cores,
            ms(self.opening),
        )?;
        let mut rows = table(&["runs", "cards", "cores", "times as fast"], &[0, 1, 2, 3]);
        for measured in &self.measured {
            let ratio = measured.cores.as_secs_f64() / measured.cards.as_secs_f64().max(1e-9);
            rows.add_row([
                grouped(measured.runs),
                ms(measured.cards),
                ms(measured.cores),
                format!("{ratio:.2}"),
            ]);
        }
        write!(out, "{}", table_text(&rows))?;
        let measured = self.measured.last().map_or(0, |last| last.runs);
        match self.kept.outcome() {
            Outcome::From(runs) if runs > measured => writeln!(
                out,
                "cards would be faster from about {} runs on",
                grouped(runs)
            )?,
            Outcome::From(runs) => {
                writeln!(out, "cards are faster from {} runs on", grouped(runs))?;
            }
            Outcome::Never => writeln!(out, "cards are never faster")?,
        }
        match &self.file {
            Ok(path) => writeln!(out, "kept in {}", path.display())?,
            Err(error) => writeln!(out, "not kept: {error}")?,
        }
        Ok(())
    }
}
