# `just` lists the recipes. CI runs the same commands through .ci/run.

_default:
    @just --list --unsorted

# check formatting, lints, documentation and generated files
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --all-features -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
    cargo xtask gen --check

# run every test that needs only this repository; --rust or --python runs one half
test *ARGS:
    cargo xtask test {{ARGS}}

# compare results with those that CPython computed
conformance DIR="../shared/vectors":
    cargo run --package batt-cli --quiet -- conformance {{DIR}}

# measure throughput; `just bench --against ../arc-dsl --tasks data/training` compares with Python
bench *ARGS:
    cargo run --release --package batt-cli --quiet -- bench {{ARGS}}

# measure the figures of the README and docs/performance.md
figures *ARGS:
    cargo run --release --package batt-bench --quiet -- readme {{ARGS}}

# write the generated files
gen:
    cargo xtask gen

# fuzz one target, by default for ten minutes
fuzz TARGET SECONDS="600":
    cargo +nightly fuzz run {{TARGET}} -- -max_total_time={{SECONDS}}

# run everything that CI runs
ci:
    .ci/run
