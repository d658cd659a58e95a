"""The panel: what the procedure loses without a rule, on the same simulated people."""
