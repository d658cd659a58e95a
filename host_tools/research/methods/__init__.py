"""The ways of measuring a threshold curve that the study compares, each as its authors wrote it."""
