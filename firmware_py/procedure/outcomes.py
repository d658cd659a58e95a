"""The words for what a presentation is for, and for what came out of an ear or a frequency."""

from typing import Final

# Purposes of a presentation.
FAMILIARISE: Final = "familiarise"
MEASURE: Final = "measure"
RETEST: Final = "retest"
CATCH: Final = "catch"

# An answer is True: heard, False: silence, None: unsure, for which this is the word.
UNSURE: Final = "unsure"

# Outcomes of an ear, which also mark its frequencies.
MEASURED: Final = "measured"
NO_RESPONSE: Final = "no-response"  # silent at the limit
HEARS_ALL: Final = "hears-all"  # everything heard at the floor
UNRELIABLE: Final = "unreliable"  # answers without tones
INCOMPLETE: Final = "incomplete"  # of a frequency: beyond the limit perhaps, but not for sure

# Marks of masking of a frequency.
NOT_MASKED: Final = "none"  # there was no need
MASKED: Final = "masked"  # the other ear had noise
UNCERTAIN: Final = "uncertain"  # the other ear may have heard it
