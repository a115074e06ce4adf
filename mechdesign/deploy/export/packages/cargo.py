"""Cargo: a crate without dependencies, and integration tests."""

from __future__ import annotations

from mechdesign.deploy.export import rust
from mechdesign.deploy.export.packages import envelopes
from mechdesign.deploy.export.packages.npm import bytes_of, called_first, tested
from mechdesign.deploy.export.packages.package import Member, NameRule, Package, common, in_blocks, words

KEYWORDS = words(
    "abstract as async await become box break const continue crate do dyn else enum extern false final fn for "
    "gen if impl "
    "in let loop macro match mod move mut override priv pub ref return self static struct super trait true try "
    "type typeof "
    "unsafe unsized use virtual where while yield"
)
RULE = NameRule(
    "[a-z][a-z0-9_-]{0,63}",
    "a small letter, then small letters, digits, - and _",
    KEYWORDS | words("alloc build core deps examples incremental proc_macro std test"),
    KEYWORDS | words("alloc core std"),
)

_ENVELOPED = "`@crate@::envelopes::@name@::envelope(report, last_day)?`"
_CALLED = """\
```rust
let report = @crate@::@name@::sample(@example@)?;
```"""


_RANDOMNESS = (
    "`getrandom` on Linux, `arc4random_buf` on Android, `CCRandomGenerateBytes` on Apple's systems, "
    "`getentropy` on other "
    "Unixes, `ProcessPrng` on "
    "Windows; without it `sample` returns `Error::NoRandomness`. Elsewhere there is `sample_from` only, to "
    "which a source is "
    "given. Each thread has a block, and a child of `fork()` begins with none."
)


def files(package: Package) -> dict[str, str]:
    """Paths and their text."""
    name = package.name.replace("-", "_")
    readme = {
        "called": called_first(package, (_CALLED + envelopes.told(_ENVELOPED)).replace("@crate@", name)),
        "built": "`cargo build`, with Rust 1.82 or later. There are no dependencies.",
        "tested": "`cargo test`.",
        "randomness": in_blocks(package, _RANDOMNESS),
    }
    modules = package.each('#[path = "@stem@.rs"]\npub mod @name@;\n', lambda _: {})
    cases = package.each(_TEST, _words_of, "\n")
    texts = common(package, readme) | {
        "Cargo.toml": package.filled("cargo/Cargo.toml.in"),
        "rustfmt.toml": "# written by a program, and compared byte for byte by mechdesign verify\n"
        "disable_all_formatting = true\n",
        "src/lib.rs": f"//! Reports under local differential privacy, of exact law: see README.md.\n\n{modules}"
        "\n/// Envelopes for reports, by the names of their tables.\npub mod envelopes;\n",
        "src/envelopes.rs": "//! The bytes that a collector reads.\n\n"
        + package.each('#[path = "@stem@_envelope.rs"]\npub mod @name@;\n', lambda _: {}),
        "tests/envelopes.rs": envelopes.tests(
            package, "replay.rs", {"cases": package.each(_ENVELOPE_TEST, _enveloped, "\n")}
        ),
        "tests/vectors.rs": package.filled("cargo/vectors.rs", {"cases": cases}),
    }
    for member in package.members:
        texts[f"src/{member.plan.stem}.rs"] = rust.sources(member.plan)[f"{member.plan.stem}.rs"]
        texts[f"tests/{member.name}_vectors.txt"] = member.vectors
        texts[f"src/{member.plan.stem}_envelope.rs"] = envelopes.source(
            member, "envelope.rs", rust.LANGUAGE, {"given": _enveloped(member)["given"]}
        )
        texts[f"tests/{member.name}_envelopes.txt"] = envelopes.vectors(member)
    return {path: text.replace("@crate@", name) for path, text in texts.items()}


_TEST = """\
#[test]
fn @name@_reproduces_its_vectors() {
    let lines = include_str!("@name@_vectors.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut cases = 0;
    for line in lines {
        cases += 1;
        let bad = @crate@::@name@::Error::BadInput;
        let none = @crate@::@name@::Error::NoRandomness;
        let found = replay(line, bad, none, |x, fill| @crate@::@name@::@core@_from(@read@(x), fill).map(@written@));
        assert_eq!(found, Some(true), "case {cases}");
    }
    assert!(cases > 0);
}

#[test]
fn @name@_without_randomness_gives_an_error_and_no_report() {
    let none = @crate@::@name@::Error::NoRandomness;
    assert_eq!(@crate@::@name@::@core@_from(@typical@, &mut |_| Err(none)), Err(none));
    assert!(@crate@::@name@::@core@(@typical@).is_ok());
}
"""


_ENVELOPE_TEST = """\
#[test]
fn envelopes_of_@name@_reproduce_their_vectors() {
    replay(include_str!("@name@_envelopes.txt"), @crate@::@name@::Error::BadInput, |digits, day, fill| {
        @crate@::envelopes::@name@::envelope_from(@read@, day, fill)
    });
}

#[test]
fn without_randomness_there_is_no_envelope_of_@name@() {
    let none = @crate@::@name@::Error::NoRandomness;
    let report = @one@;
    assert_eq!(@crate@::envelopes::@name@::envelope_from(report, 1, &mut |_| Err(none)), Err(none));
    let first = @crate@::envelopes::@name@::envelope(report, 1);
    assert!(first.is_ok() && first != @crate@::envelopes::@name@::envelope(report, 1));
}
"""


def _enveloped(member: Member) -> dict[str, object]:
    form = envelopes.form_of(member)
    read = {"labels": "&label(digits)", "bytes": "report(digits)"}.get(form, "number(digits)")
    given = {"labels": "&str", "bytes": "[u8; REPORT_BYTES]"}.get(form, "f64")
    words_ = _words_of(member)
    drawn = f"@crate@::{member.name}::{words_['core']}({words_['typical']}).unwrap()"
    one = f"@crate@::{member.name}::OUTPUT_LABELS[0]" if form == "labels" else drawn
    return {**words_, "read": read, "given": given, "one": one}


def _words_of(member: Member) -> dict[str, object]:
    read, written = ("item", "digits") if bytes_of(member) else ("number", "bits")
    core = "sample_code" if member.plan.labelled else "sample"
    return {**tested(member), "core": core, "crate": "@crate@", "read": read, "written": written}
