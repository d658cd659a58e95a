"""Tables of audiograms, as people have them: read whole, or refused with the place and the cure."""
