"""Rules about files, checksums and parsing."""

from __future__ import annotations

from generator.rules.rule import PARSING, SUMS, TREE, Rule

TABLE = (
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
)  # fmt: skip
