"""From a long story that fails to a short one that fails as well."""

from collections.abc import Callable, Iterator

from tests.simulation.story import CABLE, Story

Parts = tuple[frozenset[int], frozenset[str]]  # numbers of troubles, and what befalls a line


def shrunk(story: Story, fails: Callable[[Story], bool], runs_max: int = 200) -> Parts:
    """Return what has to be kept of a story, so that it still fails.

    Kind by kind at first, then one by one, until nothing more can be left out.
    """
    kept: Parts = frozenset(range(len(story.troubles))), frozenset[str](CABLE) & set(story.kinds())
    runs = 0
    while runs < runs_max:
        for fewer in _fewer(story, kept):
            runs += 1
            if fails(story.only(*fewer)):
                kept = fewer
                break
        else:
            break
    return kept


def _fewer(story: Story, kept: Parts) -> Iterator[Parts]:
    numbers, cable = kept
    for kind in dict.fromkeys(story.troubles[number].kind for number in sorted(numbers)):
        yield frozenset(n for n in numbers if story.troubles[n].kind != kind), cable
    for name in sorted(cable):
        yield numbers, cable - {name}
    for number in sorted(numbers):
        yield numbers - {number}, cable
