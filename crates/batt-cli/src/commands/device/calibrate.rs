//! Devices against cores, and what is kept of it.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};

use crate::calibration::{Calibration, LONG, Machine, Measured, Outcome, Store, measure};
use crate::device::{DeviceName, Devices, ready};
use crate::ui::{Ui, grouped, table, table_text};

/// What was measured.
pub struct Measurement {
    measured: Vec<Measured>,
    opening: Duration,
    kept: Calibration,
    /// Where it is kept, or why it is not.
    file: Result<PathBuf, String>,
}

/// Measures all devices as `--device auto` uses them, or the emulated device.
pub fn calibrate(emulated: bool, ui: &Ui) -> Result<Measurement, String> {
    let (mut devices, opening, machine) = open(emulated, ui)?;
    let measured = measure(&mut devices, opening, LONG)?;
    let kept = Calibration::new(machine, Outcome::of(&measured));
    let file = Store::from_env().write(&kept);
    Ok(Measurement {
        measured,
        opening,
        kept,
        file: file.map_err(|error| error.to_string()),
    })
}

fn open(emulated: bool, ui: &Ui) -> Result<(Devices, Duration, Machine), String> {
    if emulated {
        let started = Instant::now();
        let devices = DeviceName::Emulated.open(None, 1, ui);
        let devices = devices.map_err(|error| error.to_string())?;
        let names = devices.iter().map(|device| device.name()).collect();
        let machine = Machine::with_devices(names, "none".to_owned());
        return Ok((devices, started.elapsed(), machine));
    }
    let machine = Machine::of_driver().ok_or("the driver does not name its devices")?;
    let (devices, opening) = ready(ui).map_err(|error| error.to_string())?;
    Ok((devices, opening, machine))
}

impl Measurement {
    pub fn to_json(&self) -> Value {
        let measured = self.measured.iter().map(|measured| {
            json!({
                "runs": measured.runs,
                "devices_seconds": measured.devices.as_secs_f64(),
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
            "\n{} against {} cores; the time on devices includes {} for opening them:",
            machine.devices.join(", "),
            machine.cores,
            ms(self.opening),
        )?;
        let mut rows = table(
            &["runs", "devices", "cores", "times as fast"],
            &[0, 1, 2, 3],
        );
        for measured in &self.measured {
            let ratio = measured.cores.as_secs_f64() / measured.devices.as_secs_f64().max(1e-9);
            rows.add_row([
                grouped(measured.runs),
                ms(measured.devices),
                ms(measured.cores),
                format!("{ratio:.2}"),
            ]);
        }
        write!(out, "{}", table_text(&rows))?;
        let measured = self.measured.last().map_or(0, |last| last.runs);
        match self.kept.outcome() {
            Outcome::From(runs) if runs > measured => writeln!(
                out,
                "devices would be faster from about {} runs on",
                grouped(runs)
            )?,
            Outcome::From(runs) => {
                writeln!(out, "devices are faster from {} runs on", grouped(runs))?;
            }
            Outcome::Never => writeln!(out, "devices are never faster")?,
        }
        match &self.file {
            Ok(path) => writeln!(out, "kept in {}", path.display())?,
            Err(error) => writeln!(out, "not kept: {error}")?,
        }
        Ok(())
    }
}
