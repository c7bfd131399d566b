//! Parses weights as users write them: `constant=2,op=1,others=0.5`.

use std::str::FromStr;

use batt_lang::nearest;

use crate::credit::Weights;
use crate::mutate::MutationKind;

/// The name that stands for all kinds that are not listed.
const OTHERS: &str = "others";

/// Parses fixed weights such as `constant=2,op=1,others=0`. Kinds that are not listed get the
/// weight of `others`, or keep their first weight.
impl FromStr for Weights {
    type Err = String;

    fn from_str(text: &str) -> Result<Weights, String> {
        let mut given: [Option<f64>; MutationKind::ALL.len()] = [None; MutationKind::ALL.len()];
        let mut others = None;
        for part in text.split(',').map(str::trim) {
            let (name, weight) = part
                .split_once('=')
                .ok_or("write kinds with their weights, such as constant=2,op=1,others=0.5")?;
            let (name, weight) = (name.trim(), weight.trim());
            let weight: f64 = match weight.parse() {
                Ok(weight) if (0.0..=1e6).contains(&weight) => weight,
                _ => return Err(format!("{name}={weight}: write a weight, 0 or more")),
            };
            let place = match MutationKind::named(name) {
                Some(kind) => &mut given[kind.index()],
                None if name == OTHERS => &mut others,
                None => return Err(unknown_kind(name)),
            };
            if place.replace(weight).is_some() {
                return Err(format!("{name} is given twice"));
            }
        }
        let weights = MutationKind::ALL.map(|kind| {
            let given = given[kind.index()].or(others);
            given.unwrap_or_else(|| kind.first_weight())
        });
        if weights.iter().all(|weight| *weight == 0.0) {
            return Err("at least one kind needs a weight above 0".to_owned());
        }
        Ok(Weights::new(weights, true))
    }
}

fn unknown_kind(name: &str) -> String {
    let kinds = MutationKind::ALL.map(MutationKind::name);
    match nearest(name, kinds) {
        Some(near) => format!("no kind of mutation is called '{name}'; did you mean '{near}'?"),
        None => format!(
            "no kind of mutation is called '{name}'; the kinds are {}, and others for the rest",
            kinds.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_weights() {
        let weights = |text: &str| text.parse::<Weights>();
        let only = weights("op=1,rewire=3,others=0").unwrap();
        assert_eq!(only.share(MutationKind::Op), 0.25);
        assert_eq!(only.share(MutationKind::Rewire), 0.75);
        assert_eq!(only.share(MutationKind::Mate), 0.0);
        let less = weights("assemble=0").unwrap();
        assert_eq!(less.share(MutationKind::Assemble), 0.0);
        assert!(less.share(MutationKind::Mate) > 0.0);
        for (bad, why) in [
            ("opp=1", "did you mean 'op'?"),
            ("anything=1", "the kinds are constant, op"),
            ("op", "write kinds"),
            ("op=-1", "0 or more"),
            ("op=nan", "0 or more"),
            ("op=1,op=2", "twice"),
            ("others=0", "above 0"),
        ] {
            let error = weights(bad).unwrap_err();
            assert!(error.contains(why), "{bad}: {error}");
        }
    }
}
