"""What else the answers may come from than one wish: chance, or a mind that was changed."""

from collections.abc import Sequence
from typing import Final

from firmware_py.inference.elementary import exp, log
from firmware_py.inference.kernel import NOT_POSITIVE_DEFINITE
from firmware_py.inference.preference.arrays import People, Wishes
from firmware_py.inference.preference.posterior import infer_wish
from firmware_py.inference.preference.thurstone import ANSWERS
from firmware_py.inference.preference.workspace import Workspace

# Somebody who answers without listening, by place or by chance, has some rate of each answer.
BY_CHANCE_PRIOR: Final = 1.0  # of a Dirichlet distribution over the three
LISTENS: Final = 0.7  # probability, before any answer, that somebody does listen
# Probability, at each comparison, that somebody who listens wants something else from there on.
CHANGE_RATE: Final = 0.001
RUN_MIN: Final = 4  # answers of each wish: fewer say nothing of it
EVIDENCE_MAX: Final = 50.0  # nats; more changes nothing


def log_evidence(people: People, wishes: Wishes) -> float:
    """Return the log probability of the answers from one wish, whatever the kind of person."""
    return log_sum((people.log_share + wishes.log_evidence).tolist())


def log_sum(terms: Sequence[float]) -> float:
    """Return the log of the sum of what has these logs."""
    highest = max(terms)
    return highest + log(sum(exp(max(term - highest, -700.0)) for term in terms))


def log_by_chance(answered: Sequence[int]) -> float:
    """Return the log probability of so many of each answer from somebody who does not listen."""
    total, seen = 0.0, 0
    for count in answered:
        for k in range(count):
            total += log((BY_CHANCE_PRIOR + k) / (ANSWERS * BY_CHANCE_PRIOR + seen))
            seen += 1
    return total


def log_of_two_wishes(count: int, w: Workspace) -> float | None:
    """Return the log probability of the answers, and of a mind that was changed, from a listener.

    None: there are too few answers for two wishes. `w.log_evidence[n]` is that of the first n, from
    one wish; `w.later` and `w.asked_later` are scratch.
    """
    terms = []
    for change in range(RUN_MIN, count - RUN_MIN + 1):
        for later, asked in zip(w.asked_later, w.asked, strict=True):
            later[: count - change] = asked[change:count]
        w.later.tau[:] = 0.0
        w.later.nu[:] = 0.0
        status = infer_wish(count - change, w.asked_later, w.people, w.space, w.later, w.scratch)
        if status != NOT_POSITIVE_DEFINITE:
            terms.append(float(w.log_evidence[change]) + log_evidence(w.people, w.later))
    return log(CHANGE_RATE) + log_sum(terms) if terms else None


def probability_of_one_wish(
    count: int, one_wish: float, by_chance: float, two_wishes: float | None
) -> tuple[float, float]:
    """Return the posterior probabilities of one wish, and of two.

    Of so many answers these are the log probabilities, the last as of `log_of_two_wishes`.
    """
    changes = 0 if two_wishes is None else count - 2 * RUN_MIN + 1
    logs = [log(LISTENS * (1.0 - CHANGE_RATE * changes)) + one_wish, log(1.0 - LISTENS) + by_chance]
    if two_wishes is not None:
        logs.append(log(LISTENS) + two_wishes)
    total = log_sum(logs)
    shares = [exp(max(each - total, -EVIDENCE_MAX)) for each in logs]
    return float(shares[0]), float(shares[2]) if two_wishes is not None else 0.0
