"""What the operator's commands do, and what the operator is told."""
