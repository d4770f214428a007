"""Every bad input is one clear line, exit code 2, and four lines all the same."""

from pathlib import Path

import pytest

from tests.builders.pairs import FLAKE, MISS
from tests.support.gate_job import Job

BAD = [
    ("first-artifact", "", "both empty"),
    ("rerun-artifact", "", "both empty"),
    ("first-artifact", "a/b", "name or a glob"),
    ("first-artifact", "{attempt}-{attempt}", "at most once"),
    ("rerun-artifact", "x" * 261, "name or a glob"),
    ("first-artifact-id", "12a", "positive whole number"),
    ("rerun-artifact-id", "-1", "positive whole number"),
    ("first-artifact-id", "٣", "positive whole number"),
    ("first-run-id", "0", "positive whole number"),
    ("rerun-run-id", "99999999999999999999", "positive whole number"),
    ("github-token", "", "github-token"),
    ("github-token", "two words", "one word"),
    ("policy", "/etc/passwd", "relative path"),
    ("policy", "../policy.yml", "relative path"),
    ("policy", ".", "relative path"),
    ("expected-fixtures", "good\nb@d", "fixture ids or globs"),
    ("freeze-label", "a,b", "label"),
    ("freeze-label", "x" * 51, "label"),
    ("refresh-label", "a\nb", "label"),
    ("tickets", "yes", "true or false"),
    ("tickets", "True", "true or false"),
    ("ticket-author", "not a login", "login"),
    ("pull-request", "#12", "positive whole number"),
    ("fail-on", "always", "unfrozen or never"),
    ("dry-run", "1", "true or false"),
    ("verdict-file", "/tmp/x", "relative path"),
    ("verdict-file", "a/../../x", "relative path"),
    ("verdict-file", "a\\b", "relative path"),
    ("max-artifact-mb", "0", "1 to 8192"),
    ("wait-seconds", "-1", "0 to 3600"),
    ("wait-seconds", "1e3", "0 to 3600"),
]


@pytest.mark.parametrize(("name", "value", "allowed"), BAD, ids=[f"{name}={value[:20]!r}" for name, value, _ in BAD])
def test_a_bad_input_is_one_clear_line(job: Job, name: str, value: str, allowed: str) -> None:
    """It names the input, the value and what is allowed; nothing is asked of GitHub."""
    job.pair(*FLAKE)

    outcome = job.gate(**{name.replace("-", "_"): value})

    assert outcome.said == ("unclassified", False, "")
    assert outcome.code == 2
    ((level, message),) = outcome.annotations
    assert level == "error"
    assert name in message
    assert allowed in message
    assert outcome.log.count("\n") == 1
    assert not job.github.log
    if name == "github-token" and value:
        assert value not in outcome.log + outcome.summary


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GITHUB_REPOSITORY", ""),
        ("GITHUB_REPOSITORY", "no-slash"),
        ("GITHUB_REPOSITORY", "octo-org/.."),
        ("GITHUB_RUN_ID", ""),
        ("GITHUB_RUN_ID", "0"),
        ("GITHUB_RUN_ID", "9" * 19),
        ("GITHUB_RUN_ATTEMPT", ""),
        ("GITHUB_RUN_ATTEMPT", "one"),
        ("GITHUB_API_URL", "ftp://api.example"),
        ("GITHUB_API_URL", "http://"),
    ],
)
def test_a_step_outside_of_a_workflow_says_so(job: Job, name: str, value: str) -> None:
    """A variable that the runner sets is missing or odd: it is named."""
    job.pair(*FLAKE)
    job.environ[name] = value

    outcome = job.gate()

    assert outcome.said == ("unclassified", False, "")
    assert outcome.code == 2
    assert name in outcome.log


def test_without_a_summary_file_the_class_is_on_the_log_and_the_exit_code_is_not_0(job: Job) -> None:
    """Nobody could read the four lines."""
    job.pair(*MISS)
    del job.environ["GITHUB_STEP_SUMMARY"]

    outcome = job.gate()

    assert outcome.code == 3
    assert "unclassified: GITHUB_STEP_SUMMARY is not set" in outcome.log
    assert outcome.outputs["failure-class"] == "unclassified"
    assert outcome.outputs["freeze-allowed"] == "false"


@pytest.mark.parametrize("variable", ["GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"])
def test_a_file_that_cannot_be_written_ends_in_3(job: Job, variable: str) -> None:
    """A folder stands in the place of the file, and nothing is posted."""
    job.pair(*FLAKE)
    Path(job.environ[variable]).mkdir()

    outcome = job.gate()

    assert outcome.code == 3
    assert "unclassified" in outcome.log
    assert f"the file that {variable} names cannot be written" in outcome.log
    assert not job.pull.issue.labels
    if variable == "GITHUB_OUTPUT":
        assert outcome.lines["failure_class"] == "unclassified"


def test_without_any_variable_there_is_one_line_and_no_traceback(job: Job) -> None:
    """The command tried by hand."""
    job.environ.clear()
    job.inputs.clear()

    outcome = job.gate()

    assert outcome.code == 3
    assert "run this as a step of a workflow" in outcome.log


@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
@pytest.mark.parametrize("place", ["inside", "relative", "a link inside", "a link to inside"])
def test_certificates_from_the_workspace_are_refused(job: Job, tmp_path: Path, name: str, place: str) -> None:
    """It is the patch's checkout: whom it trusts could be anybody."""
    outside, inside = tmp_path / "outside.pem", job.workspace / "inside.pem"
    link_inside, link_outside = job.workspace / "link.pem", tmp_path / "link.pem"
    for path in (outside, inside):
        path.write_text("")
    link_inside.symlink_to(outside)
    link_outside.symlink_to(inside)
    value = {"inside": inside, "relative": "inside.pem", "a link inside": link_inside, "a link to inside": link_outside}
    job.pair(*FLAKE)

    outcome = job.gate_apart({name: str(value[place])})

    assert outcome.said == ("unclassified", False, "")
    assert outcome.code == 2
    assert name in outcome.log
    assert not job.github.log


def test_a_bad_input_is_corrected_by_a_push_and_not_by_a_re_run(job: Job) -> None:
    """A re-run takes the workflow of the old commit, with the same mistake."""
    outcome = job.gate(fail_on="nevr")

    assert outcome.code == 2
    assert "**Why:** No verdict could be reached. Input `fail-on` is 'nevr'; allowed: unfrozen or never" in outcome.text
    assert (
        "Correct it in the workflow and push that: **Re-run failed jobs** takes the workflow as it was" in outcome.text
    )
    assert "then press **Re-run failed jobs**" not in outcome.text


@pytest.mark.parametrize("side", ["first", "rerun"])
def test_a_name_that_the_run_does_not_have_is_named_beside_those_that_it_has(job: Job, side: str) -> None:
    """Which side, which name, and the artifacts of the run; each said once, in words that are Markdown."""
    job.pair(*FLAKE)
    job.upload("coverage`s", FLAKE[0])

    outcome = job.gate(**{f"{side}_artifact": "frist"})

    assert outcome.said == ("unclassified", False, "artifact-missing")
    subject = "the first run" if side == "first" else "the rerun"
    detail = "the run has no artifact named `frist`; it has `coverage's`, `rerun`, `first`"
    assert outcome.text.count(f"{subject}: {detail}") == 1
    assert outcome.text.count("no artifact named") == 1
    advice = "Compare the input `first-artifact` with the names above" if side == "first" else "**Re-run failed jobs**"
    assert advice in outcome.text


def test_a_run_without_artifacts_and_a_refused_token_are_said_in_markdown_once(job: Job) -> None:
    """No escaped backtick, and no sentence twice."""
    outcome = job.gate()
    assert outcome.said == ("unclassified", False, "artifact-missing")
    assert (
        outcome.summary.count("its jobs uploaded none, or the token lacks `actions: read`") == 2
    )  # once for each name
    assert "\\`" not in outcome.summary

    job.inputs["github-token"] = "not-a-token"
    outcome = job.gate()
    assert outcome.code == 3
    assert outcome.summary.count("Leave `github-token` unset to use the job's own token") == 1
    assert "\\`" not in outcome.summary


@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_certificates_that_the_container_does_not_see_are_a_bad_input(job: Job, name: str) -> None:
    """A path of the host: the variable that counts is named, with its path and the reason."""
    job.pair(*FLAKE)

    outcome = job.gate_apart({name: "/host/certificates.pem", "CURL_CA_BUNDLE": "/host/certificates.pem"})

    assert outcome.said == ("unclassified", False, "")
    assert outcome.code == 2
    assert f"`{name}` is '/host/certificates.pem', which cannot be read: a container sees no paths of its host" in (
        outcome.log
    )
    assert not job.github.log


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("ALL_PROXY", "socks5://secret@proxy.example:1080", "names a proxy of the kind `socks5`"),
        ("all_proxy", "socks5h://proxy.example:1080", "names a proxy of the kind `socks5h`"),
        ("http_proxy", "http://:3128", "names no host"),
        ("HTTP_PROXY", "http://:3128", "names no host"),
        ("http_proxy", "http://proxy.example:port", "is not the address of a proxy"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_a_bad_input_at_once(job: Job, name: str, value: str, problem: str) -> None:
    """One sentence that names the variable, and never the address, which may hold a password."""
    job.pair(*FLAKE)

    outcome = job.gate_apart({name: value}, wait_seconds="120")

    assert outcome.said == ("unclassified", False, "")
    assert outcome.code == 2
    assert f"`{name}` {problem}" in outcome.log
    assert "proxy.example" not in outcome.log + outcome.summary
    assert not job.github.log


def test_a_proxy_that_cannot_be_used_is_no_matter_where_it_is_not(job: Job) -> None:
    """`NO_PROXY` names the host of the API, and of the storage."""
    job.pair(*FLAKE)

    outcome = job.gate_apart({"ALL_PROXY": "socks5://proxy.example:1080", "NO_PROXY": "127.0.0.1,localhost"})

    assert outcome.said == ("harness_flake", True, "transport-fault")


def test_surrounding_spaces_and_empty_inputs_are_as_if_unset(job: Job) -> None:
    """The runner passes every input, the empty ones too."""
    job.pair(*FLAKE)

    outcome = job.gate(
        first_artifact=" first\n", first_artifact_id="", fail_on="", tickets=" ", verdict_file="", freeze_label=""
    )

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert job.pull.issue.labels == ["freeze-request"]
