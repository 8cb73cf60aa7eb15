"""Which programs a read may start, and with which arguments (reference runtime, section 7.3).

Every rule is an allow-list of exact options: what is not listed is refused, abbreviations included.
There is no rule for docker: this runtime runs nothing on the host.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Check = Callable[[Sequence[str]], bool]
ANY = 10**6
_DIGITS = re.compile(r"[0-9]{1,6}")
_HOST = re.compile(r"@?[A-Za-z0-9._:+-]+")


@dataclass(frozen=True, slots=True)
class Options:
    """Exact options of one program: `flags` stand alone, `valued` take one value, `most` limits the rest."""

    flags: str = ""
    valued: str = ""
    long: tuple[str, ...] = ()
    long_valued: tuple[str, ...] = ()
    most: int = ANY
    numeric: bool = False
    plus: str = ""

    def __call__(self, arguments: Sequence[str]) -> bool:
        rest, pending = 0, list(arguments)
        while pending:
            word = pending.pop(0)
            if word == "--":
                rest += len(pending)
                break
            if word.startswith("-") and word != "-":
                if not self._option(word, pending):
                    return False
            elif self.plus and not word.startswith(self.plus):
                return False
            else:
                rest += 1
        return rest <= self.most

    def _option(self, word: str, pending: list[str]) -> bool:
        if self.numeric and _DIGITS.fullmatch(word[1:]):
            return True
        if word.startswith("--"):
            name, equals, _ = word.partition("=")
            if equals:
                return name in self.long_valued
            if name in self.long_valued:
                return bool(pending) and pending.pop(0) != ""
            return name in self.long
        return self._cluster(word[1:], pending)

    def _cluster(self, letters: str, pending: list[str]) -> bool:
        for place, letter in enumerate(letters):
            if letter in self.valued:
                if place == len(letters) - 1:
                    return bool(pending) and pending.pop(0) != ""
                return True
            if letter not in self.flags:
                return False
        return True


FIND_TESTS = frozenset(
    ("-name", "-iname", "-path", "-ipath", "-type", "-size", "-mtime", "-mmin", "-newer", "-maxdepth")
) | {*("-mindepth", "-user", "-group", "-perm", "-regex", "-iregex", "-atime", "-ctime", "-cmin", "-amin")}
FIND_WORDS = frozenset(
    ("-print", "-print0", "-ls", "-empty", "-not", "-o", "-or", "-a", "-and", "-prune", "-xdev")
)


def find(arguments: Sequence[str]) -> bool:
    """Paths, then tests that only look; nothing that executes, deletes or writes a file."""
    pending = list(arguments)
    while pending:
        word = pending.pop(0)
        if word in FIND_TESTS:
            if not pending:
                return False
            pending.pop(0)
        elif word.startswith("-") and word not in FIND_WORDS:
            return False
    return True


def bracket(arguments: Sequence[str]) -> bool:
    return bool(arguments) and arguments[-1] == "]"


def ip(arguments: Sequence[str]) -> bool:
    """`ip [-4|-6|-o|-s] (addr|route|link|neigh) [show ...]`."""
    words = list(arguments)
    while words and words[0] in ("-4", "-6", "-o", "-s"):
        words.pop(0)
    if not words or words.pop(0) not in ("addr", "address", "a", "route", "r", "link", "neigh"):
        return False
    return not words or (words[0] in ("show", "list") and not any(one.startswith("-") for one in words))


JOURNAL = Options(
    flags="rqaxk",
    valued="nupbt",
    long=("--no-pager", "--reverse", "--quiet", "--utc"),
    long_valued=("--since", "--until", "--unit", "--lines", "--priority", "--output"),
    most=0,
)


def journal(arguments: Sequence[str]) -> bool:
    """Bounded by a number of lines or by a beginning."""
    if not JOURNAL(arguments):
        return False
    text = " ".join(arguments)
    lines = re.search(r"(?:^| )(?:-n ?|--lines[= ])([0-9]{1,5})(?: |$)", text)
    return lines is not None or bool(re.search(r"(?:^| )--since[= ]\S", text))


CURL = Options(flags="sSfIki", valued="m", long_valued=("--max-time",), most=1)
WGET = Options(flags="qS", valued="T", long=("--spider", "--quiet"), long_valued=("--timeout",), most=1)
_URL = re.compile(r"https?://(?!169\.254\.)(?!\[fe80)[^\s@]+", re.IGNORECASE)


def _one_url(arguments: Sequence[str]) -> bool:
    return sum(bool(_URL.fullmatch(one)) for one in arguments) == 1


def curl(arguments: Sequence[str]) -> bool:
    """GET or HEAD of one web address; never a link-local one, where clouds hand out credentials."""
    return CURL(arguments) and _one_url(arguments)


def wget(arguments: Sequence[str]) -> bool:
    return "--spider" in arguments and WGET(arguments) and _one_url(arguments)


DATABASES = frozenset(
    ("hosts", "ahosts", "ahostsv4", "ahostsv6", "services", "protocols", "networks", "passwd", "group")
)


def getent(arguments: Sequence[str]) -> bool:
    return bool(arguments) and arguments[0] in DATABASES and not any(one.startswith("-") for one in arguments)


def lookup(arguments: Sequence[str]) -> bool:
    return bool(arguments) and all(_HOST.fullmatch(one) and not one.startswith("-") for one in arguments)


PING = Options(flags="46nq", valued="cWw", most=1)


def ping(arguments: Sequence[str]) -> bool:
    """At most five packets."""
    count = re.search(r"(?:^| )-c ?([1-5])(?: |$)", " ".join(arguments))
    return count is not None and PING(arguments)


def ps(arguments: Sequence[str]) -> bool:
    """Lists of processes without their environment, which the letter `e` without a dash would show."""
    for word in arguments:
        if not re.fullmatch(r"-[AadefFjlLTwH]+|[auxwflrT]+|-o|(?!.*env)[a-z%,]+", word):
            return False
    return not any(re.fullmatch(r"[a-z]*e[a-z]*", one) and len(one) <= 4 for one in arguments if one != "-o")


_SECRET_NAME = re.compile(r"secret|passw|token|key|credential|auth|dsn|url", re.IGNORECASE)


def printenv(arguments: Sequence[str]) -> bool:
    """Named variables whose names do not speak of secrets; never the whole environment."""
    named = all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", one) for one in arguments)
    return bool(arguments) and named and not any(_SECRET_NAME.search(one) for one in arguments)


_GREP = Options(flags="EFGPivwxcLloqsHhnbazUV", valued="emABC")
_SUM = Options(flags="bt")
READS: Mapping[str, Check] = {
    "cat": Options(flags="AbEnstTuv"),
    "head": Options(flags="qv", valued="nc", long_valued=("--lines", "--bytes"), numeric=True),
    "tail": Options(flags="qv", valued="nc", long_valued=("--lines", "--bytes"), numeric=True),
    "ls": Options(flags="aAbBcCdFgGhHiklLmnNopqQrRsStuUvxX1Z", long=("--all", "--human-readable")),
    "stat": Options(flags="Lft", valued="c", long=("--terse", "--file-system"), long_valued=("--format",)),
    "wc": Options(flags="clmwL"),
    "du": Options(flags="abchHklmsx0S", valued="d", long_valued=("--max-depth",)),
    "df": Options(flags="ahHiklmPT", valued="t"),
    "free": Options(flags="bkmghtw", most=0),
    "ps": ps,
    "uptime": Options(flags="ps", most=0),
    "id": Options(flags="ugGnr", most=1),
    "whoami": Options(most=0),
    "uname": Options(flags="asnrvmpio", most=0),
    "date": Options(flags="uR", valued="I", plus="+", most=1),
    "hostname": Options(flags="fiI", most=0),
    "grep": _GREP,
    "zgrep": _GREP,
    "printenv": printenv,
    "nproc": Options(most=0),
    "lsblk": Options(flags="aflmnpst", valued="o"),
    "lscpu": Options(most=0),
    "ss": Options(flags="tulnaps46xwemio", most=0),
    "netstat": Options(flags="tulnapresiew", most=0),
    "ip": ip,
    "pgrep": Options(flags="laficvwxno", valued="uUPgGst", most=1),
    "pidof": Options(flags="sx"),
    "md5sum": _SUM,
    "sha256sum": _SUM,
    "test": lambda arguments: True,
    "[": bracket,
    "find": find,
    "journalctl": journal,
    "dmesg": Options(flags="HkTtxruL", long_valued=("--level", "--facility"), most=0),
    "sort": Options(flags="bdfghinrRuVMz", valued="kt"),
    "uniq": Options(flags="cdiuz", valued="fsw", most=1),
}
NETWORK_READS: Mapping[str, Check] = {
    "curl": curl,
    "wget": wget,
    "getent": getent,
    "nslookup": lookup,
    "dig": lookup,
    "ping": ping,
}
