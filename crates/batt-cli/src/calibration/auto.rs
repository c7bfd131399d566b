//! `--device auto`: devices where they are known to be faster.

use super::{Calibration, Decision, Machine, Outcome, SHORT, Store, decide, measure};
use crate::device::{DeviceName, Devices, PER_DEVICE, ready};
use crate::ui::{Ui, grouped};

/// With fewer runs the processor is done before the driver has answered.
const FEW: usize = 1_000;

/// The devices to use for so many runs; none for the processor alone.
pub fn open(runs: usize, ui: &Ui) -> Devices {
    if runs < FEW {
        return Vec::new();
    }
    let Some(machine) = Machine::of_driver() else {
        return Vec::new();
    };
    let store = Store::from_env();
    let known = store.read(&machine).map(|kept| kept.outcome());
    let opened = match decide(runs, known, || store.is_writable()) {
        Decision::Cpu => Ok(Vec::new()),
        Decision::Devices => DeviceName::Auto
            .open(None, PER_DEVICE, ui)
            .map_err(|e| e.to_string()),
        Decision::Measure => measured(machine, runs, &store, ui),
    };
    opened.unwrap_or_else(|error| {
        ui.note(format_args!("{error}; the processor runs everything"));
        Vec::new()
    })
}

/// Finds out how many runs are enough, and gives the devices if these are.
fn measured(machine: Machine, runs: usize, store: &Store, ui: &Ui) -> Result<Devices, String> {
    ui.note("measuring once from how many runs on devices are faster (--device cpu does without)");
    let (mut devices, opening) = ready(ui).map_err(|error| error.to_string())?;
    let outcome = Outcome::of(&measure(&mut devices, opening, SHORT)?);
    ui.note(match outcome {
        Outcome::From(least) => format!("devices are faster from {} runs on", grouped(least)),
        Outcome::Never => "the processor is always faster".to_owned(),
    });
    if let Err(error) = store.write(&Calibration::new(machine, outcome)) {
        ui.note(format_args!("this cannot be kept: {error}"));
    }
    // Those that are open cost nothing more, but slower is slower.
    match outcome.devices_win(runs) {
        true => Ok(devices),
        false => Ok(Vec::new()),
    }
}
