"""Drawings of audiograms, for pages, papers and pictures."""
