//! Numbers that look like chance, the same ones for the same seed.

/// Steele, Lea and Flood's generator: a counter and a mixing function. Written out here because what a seed picks is to
/// stay the same whatever version of a crate is used.
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Starts at a seed.
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not zero; each is equally likely.
    pub fn below(&mut self, n: u64) -> u64 {
        let unfair = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.number()) * u128::from(n);
            if product as u64 >= unfair {
                return (product >> 64) as u64;
            }
        }
    }
}
