"""Metrics of explanations: against the truth, against the model, and between explanations."""

from .accuracy import top_k_accuracy
from .agreement import jaccard, stability
from .faithfulness import Faithfulness, faithfulness
from .forecast import ForecastQuality, forecast_quality, mean_quality, network_quality
from .robust_fidelity import robust_fidelity

__all__ = [
    "Faithfulness",
    "ForecastQuality",
    "faithfulness",
    "forecast_quality",
    "jaccard",
    "mean_quality",
    "network_quality",
    "robust_fidelity",
    "stability",
    "top_k_accuracy",
]
