"""How good explanations are: against the truth, against the model, and against each other."""

from .accuracy import top_k_accuracy
from .agreement import jaccard, stability
from .faithfulness import Faithfulness, faithfulness
from .forecast import ForecastQuality, forecast_quality, mean_quality

__all__ = [
    "Faithfulness",
    "ForecastQuality",
    "faithfulness",
    "forecast_quality",
    "jaccard",
    "mean_quality",
    "stability",
    "top_k_accuracy",
]
