//! The structural hash of a program.

use batt_dsl::Literal;
use siphasher::sip128::SipHasher24;

use crate::batt::PARAMS;
use crate::program::{Operand, Program, StepKind};

use super::script::roles;

type Digest = [u8; 16];

/// Returns the identity of a solver: 32 hexadecimal digits that depend only on the expression it
/// computes. Names, the numbering of steps, unused steps and the spelling of constants do not
/// count. Neither does it matter whether a repeated part was written once or several times.
///
/// The hash is built from the parts upwards, so the time is proportional to the number of steps,
/// however large the expression is. It is the same in every version. The digest of each part is
/// SipHash-2-4 with 128 bits, keyed with zeros, of these bytes (numbers are little-endian):
///
/// | part | bytes |
/// | --- | --- |
/// | parameter | `P` and its name, `S`, `I` or `C`; any other, `p` and its position in 4 bytes |
/// | primitive | `F` and its name |
/// | `None` | `N` |
/// | bool | `B` and a byte, 0 or 1 |
/// | integer | `Z` and 8 bytes |
/// | tuple | `T` and the digests of its items |
/// | call | `C` and the digests of callee and arguments |
///
/// The hash is the digest of `batt-1`, a zero byte, the name of the dialect, a zero byte and the
/// digest of the result.
pub fn structural_hash(program: &Program) -> String {
    let hasher = Digester {
        params: params(program),
    };
    let mut digests: Vec<Digest> = Vec::with_capacity(program.steps().len());
    let mut bytes = Vec::new();
    for step in program.steps() {
        bytes.clear();
        bytes.push(match &step.kind {
            StepKind::Call { .. } => b'C',
            StepKind::Tuple(_) => b'T',
        });
        for operand in step.kind.operands() {
            bytes.extend(hasher.operand(operand, &digests));
        }
        digests.push(digest(&bytes));
    }
    let mut whole = b"batt-1\0".to_vec();
    whole.extend(program.dialect().name().as_bytes());
    whole.push(0);
    whole.extend(hasher.operand(program.result(), &digests));
    let digest = digest(&whole);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

struct Digester {
    params: Vec<Digest>,
}

impl Digester {
    fn operand(&self, operand: &Operand, steps: &[Digest]) -> Digest {
        match operand {
            Operand::Param(id) => self.params[id.index()],
            Operand::Step(id) => steps[id.index()],
            Operand::Op(op) => tagged(b'F', op.op().name.as_bytes()),
            Operand::Const(constant) => literal(&constant.value()),
            Operand::Literal(value) => literal(value),
        }
    }
}

fn params(program: &Program) -> Vec<Digest> {
    match roles(program.params()) {
        Some(roles) => roles
            .iter()
            .map(|role| tagged(b'P', PARAMS[role.index()].as_bytes()))
            .collect(),
        None => (0..program.params().len() as u32)
            .map(|position| tagged(b'p', &position.to_le_bytes()))
            .collect(),
    }
}

fn literal(value: &Literal) -> Digest {
    match value {
        Literal::None => tagged(b'N', &[]),
        Literal::Bool(b) => tagged(b'B', &[(*b).into()]),
        Literal::Int(n) => tagged(b'Z', &n.to_le_bytes()),
        Literal::Tuple(items) => {
            let digests: Vec<u8> = items.iter().flat_map(literal).collect();
            tagged(b'T', &digests)
        }
    }
}

fn tagged(tag: u8, bytes: &[u8]) -> Digest {
    digest(&[&[tag], bytes].concat())
}

fn digest(bytes: &[u8]) -> Digest {
    SipHasher24::new().hash(bytes).as_bytes()
}
