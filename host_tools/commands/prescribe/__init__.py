"""Hearing-aid gains from thresholds: prescription rules with a published closed form."""

from host_tools.commands.prescribe.rules import RULES, insertion_gain

__all__ = ["RULES", "insertion_gain"]
