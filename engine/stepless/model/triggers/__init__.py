"""Defines what starts runs: schedules, event patterns, the signatures of webhooks."""
