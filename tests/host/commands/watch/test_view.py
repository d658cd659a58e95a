"""What is seen of a session: the bits of every tone."""

from host_tools.commands.watch.view import blocks


def test_blocks_have_the_height_of_their_values() -> None:
    assert blocks([0.0, 0.5, 1.0, None, 7.0], 1.0) == "▁▅█ █"
