"""What a run costs, and who bills it: inference routes and the price table (scoring format, section 11)."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Annotated, Final, NamedTuple
from urllib.parse import urlsplit

from contract.errors import PatrolQualificationError
from contract.record import OMIT, Record, decode_strict
from contract.score import CostEstimate
from contract.text import is_blank, lower, trim

SCHEMA_VERSION: Final = "patrol.qualification.prices/v1"

METERED: Final = "metered_api"
LOCAL_SERVER: Final = "local_model_server"
SUBSCRIPTION: Final = "local_subscription_agent"
CODING_PLAN: Final = "coding_plan_allowance"
CONTROL: Final = "control"

_ROUTES: Final = {
    "codex-subscription": SUBSCRIPTION,
    "claude-subscription": SUBSCRIPTION,
    "ollama": LOCAL_SERVER,
    CONTROL: CONTROL,
}
_LOCAL_NAMES: Final = (".localhost", ".local", ".internal", ".lan", ".home.arpa")


class PriceTableError(PatrolQualificationError):
    """A price table cannot be used."""


class PriceTier(Record):
    """Prices in USD per million tokens for calls up to `max_input_tokens` (0: of any size)."""

    max_input_tokens: Annotated[int, OMIT] = 0
    input_usd_per_mtok: float
    output_usd_per_mtok: float


class PriceRow(Record):
    """The price of the models of one provider that a pattern names; a final `*` stands for any ending."""

    provider: str
    pattern: str
    as_of: Annotated[str, OMIT] = ""
    tiers: tuple[PriceTier, ...]

    def names(self, provider: str, model: str) -> bool:
        """Whether this row prices a model; both texts trimmed and in lower case."""
        if provider != self.provider:
            return False
        if self.pattern.endswith("*"):
            return model.startswith(self.pattern[:-1])
        return model == self.pattern

    def tier(self, input_tokens: int) -> PriceTier | None:
        """The tier that prices a whole call with this many input tokens."""
        tokens = max(input_tokens, 0)
        return next((t for t in self.tiers if not t.max_input_tokens or tokens <= t.max_input_tokens), None)


class Quote(NamedTuple):
    """The cost of one call in USD, and the prices per million tokens that it was computed from."""

    usd: float
    as_of: str
    input_usd_per_mtok: float
    output_usd_per_mtok: float


class PriceTable(Record):
    """Prices as of one day, first matching row first."""

    schema_version: str
    as_of: str
    rows: tuple[PriceRow, ...]

    @classmethod
    def from_bytes(cls, document: bytes) -> PriceTable:
        """Read a price table; DecodeError or PriceTableError when it is none."""
        table = decode_strict(cls, document)
        if table.schema_version != SCHEMA_VERSION:
            raise PriceTableError(f"schema version {table.schema_version!r}, expected {SCHEMA_VERSION!r}")
        if not table.rows:
            raise PriceTableError("no rows", hint="an empty table would make every cost unknown")
        return table

    def quote(self, provider: str, model: str, input_tokens: int, output_tokens: int) -> Quote | None:
        """What a call costs by the first row for its model; letter case and outer space do not count."""
        provider, model = lower(trim(provider)), lower(trim(model))
        if not provider or not model:
            return None
        row = next((row for row in self.rows if row.names(provider, model)), None)
        tier = row.tier(input_tokens) if row else None
        if row is None or tier is None:
            return None
        into = (input_tokens / 1e6) * tier.input_usd_per_mtok
        out = (output_tokens / 1e6) * tier.output_usd_per_mtok
        return Quote(into + out, row.as_of or self.as_of, tier.input_usd_per_mtok, tier.output_usd_per_mtok)


def split_model(text: str) -> tuple[str, str]:
    """Provider and model of `provider:model`; the provider is empty where there is no colon."""
    left, colon, right = trim(text).partition(":")
    return (lower(trim(left)), trim(right)) if colon else ("", left)


def inference_route(provider: str, base_url: str = "") -> str:
    """By which way a provider is reached; `base_url` is its configured endpoint, empty for the usual one."""
    provider = lower(trim(provider))
    if provider in _ROUTES:
        return _ROUTES[provider]
    if provider == "zai" and _host(base_url) and "/coding/paas/" in lower(urlsplit(trim(base_url)).path):
        return CODING_PLAN
    if provider == "openai" and is_private_address(base_url):
        return LOCAL_SERVER
    return METERED


def is_private_address(base_url: str) -> bool:
    """Whether an endpoint is on this machine or in a private network; an empty or broken one is not."""
    host = _host(base_url)
    if not host:
        return False
    try:
        address = ip_address(host)
    except ValueError:
        return "." not in host or host.endswith(_LOCAL_NAMES)
    return address.is_loopback or address.is_private or address.is_link_local


def estimate_cost(
    prices: PriceTable,
    *,
    provider: str,
    model: str,
    inference_route: str,
    input_tokens: int,
    output_tokens: int,
) -> CostEstimate:
    """The cost of a call; a `provider` that is not blank overrides the one in front of `model`.

    A blank route is derived from the provider. A model server of one's own has no price, except that `ollama`
    is known to be free.
    """
    named, model = split_model(model)
    provider = named if is_blank(provider) else lower(trim(provider))
    route = trim(inference_route) or _default_route(provider)
    unpriced = CostEstimate(
        provider=provider,
        model=model,
        usd=0.0,
        known=False,
        billing_basis=route,
        budget_applicable=route == METERED,
    )
    if route == LOCAL_SERVER and provider != "ollama":
        return unpriced
    quote = prices.quote(provider, model, input_tokens, output_tokens)
    if quote is None:
        return unpriced
    return unpriced.model_copy(
        update={
            "usd": quote.usd,
            "known": True,
            "pricing_as_of": quote.as_of,
            "input_usd_per_mtok": quote.input_usd_per_mtok,
            "output_usd_per_mtok": quote.output_usd_per_mtok,
        }
    )


def _default_route(provider: str) -> str:
    return _ROUTES.get(provider, METERED)


def _host(base_url: str) -> str:
    """The lower-cased host of an absolute URL; empty where it is none."""
    try:
        parts = urlsplit(trim(base_url))
        return lower(parts.hostname or "") if parts.scheme else ""
    except ValueError:
        return ""
