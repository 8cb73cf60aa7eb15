"""The one table of rules: the checker, its messages and the generated reference page all read it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

RULESET_VERSION = "1"
"""Recorded with every verdict: a verdict can only change when this or the evidence changes."""


class Severity(Enum):
    """Whether a finding refuses the evidence or only tells something."""

    REFUSED = "refused"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: stable id, name, what it demands, why, how to mend a breach, and a good and a bad example."""

    id: str
    name: str
    group: str
    demand: str
    why: str
    mend: str
    good: str
    bad: str
    severity: Severity = Severity.REFUSED

    @property
    def concerns_bundles(self) -> bool:
        """Whether a bundle can break it; the others are about the registry and the command line."""
        return self.group != REGISTRY and self.id != "PQ001"


TREE = "Files and folders"
SUMS = "Checksums"
PARSING = "Parsing"
CATALOGUE = "Catalogue and cohort"
NUMBERS = "Derived numbers"
ACROSS = "Across bundles"
SUBMISSION = "Submission"
TEXT = "Names and texts"
REGISTRY = "The registry's own files"

_TABLE = (
    Rule(
        "PQ001", "something-to-check", TREE,
        "The given path exists and holds evidence.",
        "A checker that passes on an empty folder or a mistyped name has checked nothing.",
        "Name a folder below `evidence/`, or none to check everything.",
        "`patrol-evidence check evidence/community/ada/3f2a…`", "`patrol-evidence check evidnce`",
    ),
    Rule(
        "PQ002", "known-place", TREE,
        "Every file and folder below `evidence/` has a place in the layout.",
        "What no rule reads, nobody has checked.",
        "Move the file out of `evidence/`; raw reports stay on your machine, by default under `tmp/`.",
        "contribution.json, README.md, SHA256SUMS, submission.json", "`notes.txt` beside contribution.json",
    ),
    Rule(
        "PQ003", "plain-file", TREE,
        "Evidence consists of ordinary files and folders: no symbolic link, pipe, device or submodule.",
        "Anything else can show one content to the checker and another to the reader.",
        "Replace it by a copy of the file it stands for.",
        "a regular file", "contribution.json -> ../../other/contribution.json",
    ),
    Rule(
        "PQ004", "one-name-per-file", TREE,
        "No file of a bundle is a hard link.",
        "A second name elsewhere could change the content after it was checked.",
        "Copy the file (`cp --no-preserve=links`), then run `patrol-evidence add` again.",
        "link count 1", "link count 2",
    ),
    Rule(
        "PQ005", "size-limit", TREE,
        "contribution.json is at most 4 MiB, README.md and submission.json 64 KiB, SHA256SUMS 4 KiB.",
        "The limit is looked at before anything is read, so that no file can exhaust the checker.",
        "Export fewer runs into one bundle; several bundles of one campaign are pooled.",
        "contribution.json of 300 KiB", "contribution.json of 1 GiB",
    ),
    Rule(
        "PQ006", "not-executable", TREE,
        "No evidence file has the executable bit.",
        "Evidence is data.",
        "`chmod a-x` the file.",
        "mode 0644", "mode 0755",
    ),
    Rule(
        "PQ007", "readable", TREE,
        "Every file can be read and does not change while it is read.",
        "Each file is read once; the digest and the parsed content come from the same bytes.",
        "Close the program that writes the file, check its permissions, and run the check again.",
        "a file at rest", "a file that grows while it is read",
    ),
    Rule(
        "PQ008", "complete-bundle", TREE,
        "A bundle holds exactly contribution.json, README.md, submission.json and SHA256SUMS.",
        "A missing file is a missing claim; an extra one is an unchecked claim.",
        "Run `patrol-evidence add` on the exported folder; it writes all four.",
        "the four files", "no submission.json",
    ),
    Rule(
        "PQ009", "folder-is-digest", TREE,
        "A bundle's folder is named after the first 16 hexadecimal digits of the SHA-256 of "
        "contribution.json.",
        "The name then says what is inside, no two pull requests collide, and an edit moves nothing "
        "silently.",
        "Let `patrol-evidence add` place the bundle; never rename or edit it afterwards.",
        "`3f2a9c0d11e4b567`", "`my-campaign`",
    ),
    Rule(
        "PQ010", "folder-is-login", TREE,
        "The folder above a community bundle is a GitHub login in lower case.",
        "One spelling for one person, on file systems that fold case too.",
        "Give `--contributor` your GitHub login.",
        "`ada-l`", "`Ada L.`",
    ),
    Rule(
        "PQ011", "real-content", TREE,
        "A file is neither empty nor a Git LFS pointer.",
        "A pointer is a promise of evidence; the bytes themselves have to be in the repository.",
        "Commit the file itself; it needs no LFS.",
        "{ \"schema_version\": …", "version https://git-lfs…",
    ),
    Rule(
        "PQ020", "checksum-form", SUMS,
        "SHA256SUMS has one line per file: 64 lower-case hexadecimal digits, two spaces, the name; sorted.",
        "So that `sha256sum -c SHA256SUMS` and this checker can never read it differently.",
        "Let `patrol-evidence add` write it.",
        "`9f86…  contribution.json`", "`9F86… *contribution.json`",
    ),
    Rule(
        "PQ021", "checksum-set", SUMS,
        "SHA256SUMS lists exactly contribution.json, README.md and submission.json.",
        "An unlisted file could be changed unnoticed; a listed one that is absent was taken away.",
        "Restore the bundle as it was added, or add it again.",
        "three lines", "a line for `../policy.json`",
    ),
    Rule(
        "PQ022", "checksum-match", SUMS,
        "Every listed file has the listed digest.",
        "One changed byte makes it another claim than the one that was sealed.",
        "Restore the file with git; a correction is a new bundle that names what it supersedes.",
        "digest as listed", "one number in contribution.json edited by hand",
    ),
    Rule(
        "PQ030", "strict-json", PARSING,
        "A JSON file is UTF-8 without byte-order mark and holds one complete document with finite numbers.",
        "Where two readers could understand a file differently, one of them can be deceived.",
        "Export again with `patrol-qualify export-contribution`; do not edit the file.",
        "`{\"runs\": 3}`", "`{\"runs\": NaN}`",
    ),
    Rule(
        "PQ031", "closed-format", PARSING,
        "Every member is one of the format, spelled as there, of its type, and stands once.",
        "An unknown member is a claim that nobody verifies; of two equal ones each reader may take another.",
        "Export again with a released harness; formats are described in the reference.",
        "the members of contribution/v1", "`\"notes\": \"great model\"`",
    ),
    Rule(
        "PQ032", "known-version", PARSING,
        "schema_version is one that this rule set knows.",
        "A newer format may mean something else by the same words.",
        "Use a harness of the pinned release, or wait until this registry knows the newer format.",
        "`patrol.qualification.contribution/v1`", "`patrol.qualification.contribution/v2`",
    ),
    Rule(
        "PQ033", "class-is-derived", PARSING,
        "No file says which class it belongs to.",
        "A class is what the pooled evidence shows; nobody can award it to himself.",
        "Remove the member `class`; the site derives it.",
        "no such member", "`\"class\": \"certified\"`",
    ),
    Rule(
        "PQ034", "valid-contribution", PARSING,
        "The contribution keeps the rules of its own format (constants, digests, challenge, privacy flags).",
        "The format promises local creation, no upload and an allow-list; a file that does not is not one.",
        "Export again; the message names the member.",
        "`\"network_upload_performed\": false`", "`\"privacy\": {\"excluded\": []}`",
    ),
    Rule(
        "PQ040", "known-manifest", CATALOGUE,
        "Every run's manifest digest is that of a released scenario, with its id, version and track.",
        "A run of another scenario, or of an edited one, measures something else under the same name.",
        "Run the released catalogue unchanged; see the scenario pages for the digests.",
        "digest of watch.docker-unhealthy", "a self-made easier scenario",
    ),
    Rule(
        "PQ041", "one-track", CATALOGUE,
        "All runs of a bundle are of one track.",
        "A bundle is one campaign; tracks have boards of their own.",
        "Export each track with `--qualification-track`.",
        "watch only", "watch and remediation",
    ),
    Rule(
        "PQ042", "one-cohort", CATALOGUE,
        "All runs of a bundle name one Pulse version and one harness revision.",
        "Numbers of different versions do not belong into one sample.",
        "Export the runs of each version into a bundle of its own.",
        "6.2.0 in every run", "6.1.9 and 6.2.0",
    ),
    Rule(
        "PQ043", "clean-harness", CATALOGUE,
        "No run comes from a harness with uncommitted changes.",
        "Nobody else can then tell what was measured.",
        "Commit or drop the changes, and repeat the campaign.",
        "`\"harness_git_dirty\": false`", "`\"harness_git_dirty\": true`",
    ),
    Rule(
        "PQ044", "possible-times", CATALOGUE,
        "Runs were captured before the export, after the format began, and not in the future.",
        "Expiry and order rest on these times.",
        "Set the machine's clock, and repeat the campaign.",
        "captured 2026-11-30, exported 2026-12-01", "captured in the year 9999",
    ),
    Rule(
        "PQ045", "issued-challenge", CATALOGUE,
        "A challenge in a bundle was issued by this registry.",
        "A challenge of one's own making proves nothing about when a campaign began.",
        "Leave the challenge out, or ask a maintainer for one before the first run.",
        "no challenge", "a nonce that nobody issued",
    ),
    Rule(
        "PQ046", "controls-apart", CATALOGUE,
        "Controls stand under `evidence/controls/`, models under `evidence/community/`.",
        "A control is a subject of known behaviour that tests the benchmark; it is never ranked.",
        "Add it with (or without) `--control`.",
        "`control:reference` under controls", "`control:reference` under community",
    ),
    Rule(
        "PQ050", "run-digest", NUMBERS,
        "evidence_digest_sha256 of every run is the digest of that run.",
        "It binds each number of the run; an edited number no longer fits.",
        "Export again from the original reports.",
        "digest as computed", "latency edited, digest kept",
    ),
    Rule(
        "PQ051", "consistent-run", NUMBERS,
        "The numbers of a run agree with each other: hits and misses add up, rates are ratios, passed "
        "means no failure.",
        "A valid digest around an invented number is still an invented number.",
        "Export again from the original reports.",
        "1 fault, 1 hit, recall 1", "2 faults, 1 hit, recall 1",
    ),
    Rule(
        "PQ052", "comparison-follows", NUMBERS,
        "The summary inside the contribution is what its runs give: counts, intervals, percentiles.",
        "Every stored derived number is only a claim: it is recomputed and compared.",
        "Export again from the original reports.",
        "runs 6, passed 4 of 6 runs that passed 4 times", "passed 6 of 6 runs that passed 4 times",
    ),
    Rule(
        "PQ053", "verdict-follows", NUMBERS,
        "The verdict inside the contribution is what the gates give for its runs.",
        "A verdict is recomputed from the runs and the catalogue, never believed.",
        "Export again with a released harness.",
        "`\"qualified\": false` for three runs", "`\"qualified\": true` for three runs",
    ),
    Rule(
        "PQ054", "run-order", NUMBERS,
        "Runs are sorted by model, scenario, capture time and digest.",
        "One set of runs then has exactly one spelling, and one digest.",
        "Export again; do not reorder the file.",
        "sorted", "the best run moved to the top",
    ),
    Rule(
        "PQ060", "no-reuse", ACROSS,
        "No run, report or replay digest appears twice, in one bundle or in several.",
        "The same run counted twice is not more evidence, and a copy must not speak for someone else.",
        "Submit each run once; leave out what has already landed.",
        "digests of your own runs", "a run of somebody else's bundle",
    ),
    Rule(
        "PQ061", "known-supersession", ACROSS,
        "`supersedes` names a bundle of the same contributor that exists.",
        "A correction has to say what it corrects, and nobody corrects another's evidence.",
        "Name the id of your own earlier bundle, or leave it empty.",
        "`\"supersedes\": \"\"`", "`\"supersedes\": \"0000000000000000\"`",
    ),
    Rule(
        "PQ070", "bound-submission", SUBMISSION,
        "submission.json names the digest of the contribution beside it.",
        "Otherwise it could be moved to another's numbers.",
        "Let `patrol-evidence add` complete the draft that the export wrote.",
        "digest of contribution.json", "digest of another bundle",
    ),
    Rule(
        "PQ071", "named-contributor", SUBMISSION,
        "The contributor in submission.json is the folder's name.",
        "Who ran it is shown beside every number.",
        "`patrol-evidence add DIR --contributor YOUR-LOGIN`.",
        "`ada-l` in `community/ada-l/`", "`bob` in `community/ada-l/`",
    ),
    Rule(
        "PQ072", "consent", SUBMISSION,
        "The contributor has agreed to publication.",
        "Evidence is public and stays; nobody is published by accident.",
        "Read the exported files, then answer yes (or give `--yes`).",
        "`\"consent\": true`", "a draft that was copied by hand",
    ),
    Rule(
        "PQ073", "declared-campaign", SUBMISSION,
        "The declared runs per scenario are the runs in the bundle; fewer only with the aborted attempts "
        "listed.",
        "Ten attempts with the best one shown would get a poor model through.",
        "Declare what was run, and list what was aborted and why.",
        "3 declared, 3 runs", "30 declared, 22 runs, no word about the others",
    ),
    Rule(
        "PQ080", "plain-name", TEXT,
        "Models, providers, versions and revisions are written in plain ASCII letters, digits and `. _ : "
        "/ @ + -`.",
        "Look-alike letters, invisible characters and markup make one name pass for another.",
        "Use the name exactly as the provider spells its route.",
        "`ollama:qwen3:8b`", "`ollama:qwen3:8b` with a Cyrillic letter",
    ),
    Rule(
        "PQ081", "visible-text", TEXT,
        "Free texts hold no control, invisible, direction-changing or piled-up characters.",
        "They reorder or hide what a reader sees.",
        "Retype the text by hand.",
        "`Example University`", "a right-to-left override",
    ),
    Rule(
        "PQ082", "nothing-private", TEXT,
        "No text looks like a secret, a private address, an internal host name, an e-mail or a home folder.",
        "Evidence is public for ever. The message gives the place, never the value.",
        "Remove it from the text and add the bundle again.",
        "`Debian 12, Docker 20.10`", "a path below a home folder",
    ),
    Rule(
        "PQ090", "valid-policy", REGISTRY,
        "evidence/policy.json follows its format, and the catalogues that it lists are there.",
        "Without it no class can be derived.",
        "Restore it from git; changes to policy are made by maintainers on their own.",
        "as committed", "no floor",
    ),
    Rule(
        "PQ091", "valid-models", REGISTRY,
        "evidence/models.json follows its format, and no alias belongs to two models.",
        "An alias that captures another model's name would move its results.",
        "Remove the second alias.",
        "one model per alias", "one alias under two models",
    ),
    Rule(
        "PQ092", "valid-catalogue", REGISTRY,
        "Every manifest below `scenarios/` and in the kept catalogues is valid.",
        "Evidence is judged against them.",
        "`patrol-qualify validate` says what is wrong.",
        "a reviewed manifest", "a manifest that does not parse",
    ),
)  # fmt: skip

RULES: dict[str, Rule] = {rule.id: rule for rule in _TABLE}
"""All rules by id, in the order of the reference page."""
