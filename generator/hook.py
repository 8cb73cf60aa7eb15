"""The MkDocs hook: verifies all evidence, refuses to build on any fault, adds and fills the virtual pages.

The only place of the generator that hands pages to a builder. Each generated page reaches MkDocs with empty
placeholders; its tables are put in afterwards, so that the Markdown parser does not pay for them.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import ConfigurationError, PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page as MkDocsPage

from contract.errors import PatrolQualificationError
from generator.check import check_tree
from generator.findings import Finding
from generator.moment import build_moment_ns, parse_moment
from generator.pages import build_pages
from generator.registry import Registry
from generator.render import Page
from generator.view import SiteView
from generator.wording import NS, day

SHOWN = 20
"""How many findings a refused build names; the checker names all."""

_site: dict[str, Page] = {}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Verify, render, and set the build's date before MkDocs takes it from the clock."""
    if config.use_directory_urls:
        raise ConfigurationError("the generated tables link to files: set use_directory_urls: false")
    root = Path(config.config_file_path).parent if config.config_file_path else Path.cwd()
    asked = os.environ.get("PATROL_AS_OF", "")
    try:
        registry = _verified(root, asked)
        as_of_ns = build_moment_ns(root, asked, registry.bundles)
        pages = build_pages(SiteView(registry, as_of_ns), _written(Path(config.docs_dir)))
    except PatrolQualificationError as error:
        raise PluginError(str(error)) from error
    os.environ["SOURCE_DATE_EPOCH"] = str(as_of_ns // NS)
    config.copyright = _footer(registry, as_of_ns)
    _site.clear()
    _site.update({page.path: page for page in pages})
    return config


def _verified(root: Path, asked: str) -> Registry:
    verdict = check_tree(root, parse_moment(asked) if asked else time.time_ns())
    if verdict.findings or verdict.registry is None:
        raise PluginError(refusal(verdict.findings))
    return verdict.registry


def refusal(findings: tuple[Finding, ...]) -> str:
    """Why nothing is built: every broken rule with its file, and what to do."""
    lines = [f"  {one.where}: {one.what} [{one.rule_id}]" for one in findings[:SHOWN]]
    if len(findings) > SHOWN:
        lines.append(f"  and {len(findings) - SHOWN} more")
    return "the evidence is refused, so nothing is built:\n" + "\n".join(
        [*lines, "  `patrol-evidence check` says how to mend each"]
    )


def _written(docs: Path) -> list[str]:
    return sorted(path.relative_to(docs).as_posix() for path in docs.rglob("*.md"))


def _footer(registry: Registry, as_of_ns: int) -> str:
    return (
        f"As of {day(as_of_ns)}, from {len(registry.bundles)} verified bundles. "
        "No class is declared by anybody; each is derived from the evidence on every build."
    )


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, in place of nothing that a person wrote."""
    for path, page in _site.items():
        if files.get_file_from_path(path) is not None:
            raise PluginError(f"{config.docs_dir}/{path} is in the way of a generated page")
        files.append(File.generated(config, path, content=page.text))
    return files


def on_post_page(output: str, page: MkDocsPage, config: MkDocsConfig) -> str:
    """Put the tables of a generated page where its placeholders stand."""
    generated = _site.get(page.file.src_uri)
    return output if generated is None else generated.splice(output)
