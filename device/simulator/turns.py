"""Two listeners who take turns: from a tone on another one sits there, or the earphones moved."""

from dataclasses import dataclass

from device.simulator.listener import Ear, Listener, Noise, Press, number_of


@dataclass(frozen=True)
class TakingTurns:
    """Answers as the first of two listeners, and from a tone of this number on as the second."""

    first: Listener
    second: Listener
    since: int

    def answer(
        self,
        tone_id: str,
        ear: Ear,
        frequency_hz: float,
        level_db_hl: float,
        noise: Noise | None = None,
    ) -> Press | None:
        """Say whether and when a tone is answered, with noise or without."""
        listener = self._at(number_of(tone_id))
        return listener.answer(tone_id, ear, frequency_hz, level_db_hl, noise)

    def spontaneous_press(self, after_id: str, slot: int) -> Press | None:
        """Say whether and when the button is pressed in a slot in which nothing sounds."""
        return self._at(number_of(after_id) + 1).spontaneous_press(after_id, slot)

    def _at(self, number: int) -> Listener:
        return self.second if number >= self.since else self.first
