"""From answers to a report: tables, exclusions, intervals, mixed models, agreement, power."""
