"""`gp-pta study`: methods compared on simulated listeners, and the paper's figures."""
