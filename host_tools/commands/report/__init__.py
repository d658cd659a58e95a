"""`gp-pta report`: a session as a page to look through, or as a picture."""
