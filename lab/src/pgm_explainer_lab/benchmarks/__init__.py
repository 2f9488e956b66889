"""What is measured against whom: ratios of times in one run, so that a slow hour cancels out."""
