"""From what was captured to a score, by rules alone: no clock, no disk, no network (scoring format)."""

from contract.scoring.inputs import ScoringInput
from contract.scoring.pro import apply_pro_gates, with_hard_failure
from contract.scoring.rescoring import report_passes, rescore
from contract.scoring.watch import score_run

__all__ = [
    "ScoringInput",
    "apply_pro_gates",
    "report_passes",
    "rescore",
    "score_run",
    "with_hard_failure",
]
