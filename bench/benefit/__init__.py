"""Does it help? What models of intelligibility and quality say of ears with an aid fitted here."""
