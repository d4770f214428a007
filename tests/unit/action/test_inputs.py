"""The inputs as the runner passes them; every refusal is shown from end to end with the gate."""

import pytest

from freeze_gate.action.inputs import INPUTS, read_inputs
from freeze_gate.artifacts.select import ArtifactSelector
from freeze_gate.errors import UsageError

NEEDED = {"INPUT_FIRST-ARTIFACT": "first", "INPUT_RERUN-ARTIFACT": "rerun", "INPUT_GITHUB-TOKEN": "secret"}


def test_the_defaults_are_the_contract_s() -> None:
    """With nothing but the two names and the token."""
    inputs = read_inputs(NEEDED)

    assert inputs.first == ArtifactSelector(None, "first", None)
    assert inputs.rerun == ArtifactSelector(None, "rerun", None)
    assert inputs.policy == ".github/freeze-gate.yml"
    assert inputs.expected == ()
    assert (inputs.freeze_label, inputs.refresh_label) == ("freeze-request", "fixture-refresh")
    assert (inputs.tickets, inputs.ticket_author) == (True, "github-actions[bot]")
    assert (inputs.fail_on, inputs.dry_run) == ("unfrozen", False)
    assert inputs.verdict_file == "freeze-gate-verdict.json"
    assert (inputs.max_artifact_bytes, inputs.wait_seconds) == (2048 << 20, 120)
    assert inputs.pull_request is None


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("empty", ["", " ", "\n"])
def test_an_empty_input_is_unset(name: str, empty: str) -> None:
    """The runner passes every input, set or not."""
    variable = f"INPUT_{name.upper()}"
    if variable in NEEDED:
        with pytest.raises(UsageError, match=name):
            read_inputs({**NEEDED, variable: empty})
    else:
        assert read_inputs({**NEEDED, variable: empty})._replace(token=None) == read_inputs(NEEDED)._replace(token=None)  # type: ignore[arg-type]


def test_hyphens_stay_in_the_variable_s_name() -> None:
    """`INPUT_FIRST_ARTIFACT` is no input of ours."""
    with pytest.raises(UsageError, match="first-artifact"):
        read_inputs({"INPUT_FIRST_ARTIFACT": "x", "INPUT_RERUN-ARTIFACT": "y", "INPUT_GITHUB-TOKEN": "z"})


@pytest.mark.parametrize(
    ("name", "value", "field", "read"),
    [
        ("expected-fixtures", " a \n\n b-*\n", "expected", ("a", "b-*")),
        ("freeze-label", " needs: freeze ", "freeze_label", "needs: freeze"),
        ("freeze-label", "Einfrieren ❄", "freeze_label", "Einfrieren ❄"),
        ("ticket-author", "octocat_acme", "ticket_author", "octocat_acme"),
        ("ticket-author", "my-app[bot]", "ticket_author", "my-app[bot]"),
        ("policy", "./ci//policy.yml", "policy", "ci/policy.yml"),
        ("verdict-file", "out/verdict.json", "verdict_file", "out/verdict.json"),
        ("wait-seconds", "0", "wait_seconds", 0),
        ("max-artifact-mb", "1", "max_artifact_bytes", 1 << 20),
        ("pull-request", "012", "pull_request", 12),
        ("dry-run", "true", "dry_run", True),
        ("fail-on", "never", "fail_on", "never"),
    ],
)
def test_values_are_read_as_they_are_meant(name: str, value: str, field: str, read: object) -> None:
    """Trimmed, typed, normalised."""
    assert getattr(read_inputs({**NEEDED, f"INPUT_{name.upper()}": value}), field) == read


def test_an_id_needs_no_name() -> None:
    """One side by id, the other by name."""
    inputs = read_inputs({**NEEDED, "INPUT_FIRST-ARTIFACT": "", "INPUT_FIRST-ARTIFACT-ID": "17"})
    assert inputs.first == ArtifactSelector(17, None, None)


def test_a_token_shows_in_no_text() -> None:
    """Neither as itself nor within the inputs, nor where it is refused."""
    assert "secret" not in repr(read_inputs(NEEDED))
    with pytest.raises(UsageError) as refused:
        read_inputs({**NEEDED, "INPUT_GITHUB-TOKEN": "sec ret"})
    assert "sec" not in str(refused.value).replace("secrets", "")


def test_a_refusal_shows_a_value_in_one_short_line() -> None:
    """Whatever was passed."""
    with pytest.raises(UsageError) as refused:
        read_inputs({**NEEDED, "INPUT_FAIL-ON": "x\n::error::y" * 1000})
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300
