"""Routes, prices and what a call costs."""

from __future__ import annotations

from typing import Any

import pytest
from runs import GOLDEN, PRICES

from contract.jsontext import float_text
from contract.pricing import (
    PriceRow,
    PriceTable,
    PriceTableError,
    PriceTier,
    estimate_cost,
    inference_route,
    is_private_address,
    split_model,
)
from contract.record import DecodeError, encode_indented


@pytest.mark.parametrize(
    "case", GOLDEN["routes"], ids=lambda case: f"{case['provider']} {case['zai_base_url']}"
)
def test_a_provider_is_reached_as_published(case: dict[str, str]) -> None:
    assert inference_route(case["provider"], case["zai_base_url"]) == case["route"]


@pytest.mark.parametrize("case", GOLDEN["split_model"], ids=lambda case: repr(case["in"]))
def test_a_model_text_is_split_at_the_first_colon(case: dict[str, str]) -> None:
    assert split_model(case["in"]) == (case["provider"], case["model"])


@pytest.mark.parametrize("case", GOLDEN["cost"], ids=lambda case: f"{case['provider']} {case['model']}")
def test_a_call_costs_as_published(case: dict[str, Any]) -> None:
    quote = PRICES.quote(case["provider"], case["model"], case["input_tokens"], case["output_tokens"])
    if quote is None:
        assert not case["known"]
        return
    assert case["known"]
    assert float_text(quote.usd) == case["usd_json"]
    assert quote[1:] == (case["pricing_as_of"], case["in_mtok"], case["out_mtok"])


def cost(provider: str = "", model: str = "openai:gpt-4o", route: str = "", tokens: int = 1000) -> Any:
    return estimate_cost(
        PRICES, provider=provider, model=model, inference_route=route, input_tokens=tokens, output_tokens=10
    )


def test_the_recorded_provider_overrides_the_one_in_the_model_text() -> None:
    routed = cost(" OpenRouter ", "anthropic/claude-sonnet-5")
    assert (routed.provider, routed.model, routed.known) == ("openrouter", "anthropic/claude-sonnet-5", True)


def test_a_blank_provider_leaves_the_one_in_the_model_text() -> None:
    assert cost("  ").provider == "openai"


def test_a_recorded_route_beats_the_derived_one() -> None:
    assert cost(route=" coding_plan_allowance ").billing_basis == "coding_plan_allowance"
    assert cost(route="anything").budget_applicable is False
    assert (cost().billing_basis, cost().budget_applicable) == ("metered_api", True)


def test_a_model_server_of_ones_own_has_no_price_unless_it_is_ollama() -> None:
    local = cost("openai", "openai:gpt-4o", "local_model_server")
    assert (local.known, local.usd) == (False, 0.0)
    ollama = cost("ollama", "ollama:qwen3:8b", "local_model_server")
    assert (ollama.known, ollama.usd, ollama.pricing_as_of) == (True, 0.0, "2026-06-04")


def test_a_control_costs_nothing_that_could_be_known() -> None:
    control = cost("control", "control:reference")
    assert (control.billing_basis, control.known, control.budget_applicable) == ("control", False, False)


def test_negative_tokens_are_priced_by_the_lowest_tier() -> None:
    quote = PRICES.quote("gemini", "gemini-2.5-pro", -1_000_000, 0)
    assert quote is not None
    assert (quote.input_usd_per_mtok, quote.usd) == (1.25, -1.25)


@pytest.mark.parametrize(
    ("base_url", "private"),
    [
        ("http://127.0.0.1:8081/v1", True),
        ("http://[::1]/v1", True),
        ("http://192.168.1.4/v1", True),
        ("http://169.254.1.1/", True),
        ("http://localhost:1234", True),
        ("http://gpu.lan/v1", True),
        ("https://api.openai.com/v1", False),
        ("https://8.8.8.8/v1", False),
        ("", False),
        ("127.0.0.1:8081", False),
        ("http://[bad", False),
    ],
)
def test_an_endpoint_on_ones_own_machine_is_a_local_model_server(base_url: str, private: bool) -> None:
    assert is_private_address(base_url) is private
    wanted = "local_model_server" if private else "metered_api"
    assert inference_route("openai", base_url) == wanted


def test_a_control_has_a_route_of_its_own() -> None:
    assert inference_route(" Control ") == "control"


def table(**changes: Any) -> bytes:
    tier = PriceTier(max_input_tokens=10, input_usd_per_mtok=1.0, output_usd_per_mtok=1.0)
    rows = (PriceRow(provider="p", pattern="*", tiers=(tier,)),)
    whole = PriceTable(schema_version="patrol.qualification.prices/v1", as_of="2031-01-01", rows=rows)
    return encode_indented(whole.model_copy(update=changes))


def test_a_call_beyond_the_last_tier_has_no_price() -> None:
    prices = PriceTable.from_bytes(table())
    assert prices.quote("p", "m", 11, 0) is None
    assert prices.quote("p", "m", 10, 0) is not None


@pytest.mark.parametrize(
    ("changes", "why"), [({"schema_version": "v0"}, "schema version"), ({"rows": ()}, "no rows")]
)
def test_a_table_that_cannot_be_used_is_refused(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(PriceTableError, match=why):
        PriceTable.from_bytes(table(**changes))


def test_a_table_with_an_unknown_member_is_refused() -> None:
    with pytest.raises(DecodeError, match="no such member"):
        PriceTable.from_bytes(table().replace(b'"as_of"', b'"asof"'))
