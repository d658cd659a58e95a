"""`gp-pta learn-prior`: a prior of threshold curves, learned from a table of audiograms."""
