"""The words for what a presentation is for, and for what came out of an ear or a frequency."""

from typing import Final

# Purposes of a presentation.
FAMILIARISE: Final = "familiarise"
MEASURE: Final = "measure"
RETEST: Final = "retest"
CATCH: Final = "catch"

# Outcomes of an ear; the first three also mark a single frequency.
MEASURED: Final = "measured"
NO_RESPONSE: Final = "no-response"  # silent at the limit
HEARS_ALL: Final = "hears-all"  # everything heard at the floor
UNRELIABLE: Final = "unreliable"  # answers without tones
INCOMPLETE: Final = "incomplete"
