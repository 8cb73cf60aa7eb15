"""Rules about what evidence says, and about the registry itself."""

from __future__ import annotations

from generator.rules.rule import ACROSS, CATALOGUE, NUMBERS, REGISTRY, SUBMISSION, TEXT, Rule

TABLE = (
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
        "evidence/models.json follows its format, its ids and titles are plain, and no alias stands twice.",
        "Ids name pages, names head them, and an alias that captures another model moves its results.",
        "Spell ids and titles in plain ASCII, and leave each alias with one model.",
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
