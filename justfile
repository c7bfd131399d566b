# `just` lists the verbs. CI runs the same commands through .ci/run.

_default:
    @just --list --unsorted

# formatting, lints, documentation, generated files
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --all-features -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
    cargo xtask gen --check

# every test that needs nothing but this repository
test *ARGS:
    cargo test --workspace --all-features {{ARGS}}

# results against those CPython computed
conformance DIR="../shared/vectors":
    cargo run --package batt-cli --quiet -- conformance {{DIR}}

# throughput; `just bench --against ../arc-dsl --tasks data/training` compares with Python
bench *ARGS:
    cargo run --release --package batt-cli --quiet -- bench {{ARGS}}

# every figure of the README
figures *ARGS:
    cargo run --release --package batt-bench --quiet -- readme {{ARGS}}

# write the generated files
gen:
    cargo xtask gen

# fuzz one target, for ten minutes unless told otherwise
fuzz TARGET SECONDS="600":
    cargo +nightly fuzz run {{TARGET}} -- -max_total_time={{SECONDS}}

# what CI runs
ci:
    .ci/run
