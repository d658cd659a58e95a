"""Host tools of GP-PTA: one command, `gp-pta`."""
