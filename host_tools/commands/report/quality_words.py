"""How good the test of an ear was, and with what masking noise, in words: the rows of a table."""

from firmware_py.procedure.route import Route
from host_tools.catalogue import Catalogue
from host_tools.commands.report.findings import EarFindings
from host_tools.commands.report.words import NOTHING, Words
from host_tools.recordings.recorded_session import RecordedSession


def quality_rows(ear: EarFindings, words: Words) -> list[tuple[str, str]]:
    """Return what is known of the quality of an ear's test: names and values."""
    q = ear.quality
    trial_s = NOTHING if q.trial_s is None else f"{words.number(q.trial_s, '.1f')} s"
    recorded = [
        (words.say("tones"), _tones(ear, words)),
        (words.say("silence"), _silence(ear, words)),
        *_checks(ear, words),
    ]
    if q.clear_tones is None:  # no replay told more
        return [*recorded, (words.say("posterior_sd"), _sd(ear, words))]
    return [
        *recorded,
        (words.say("clear_missed"), _some_of(q.clear_missed, q.clear_tones, words)),
        (words.say("response_time"), _response(ear, words)),
        (words.say("trial_time"), trial_s),
        (words.say("posterior_sd"), _sd(ear, words)),
    ]


def _some_of(some: int | None, every: int | None, words: Words) -> str:
    return words.say("some_of", some=str(some), all=str(every))


def _tones(ear: EarFindings, words: Words) -> str:
    q = ear.quality
    parts = {"tones": str(q.tones), "heard": str(q.tones_heard)}
    key = "tones_value"
    if q.tones_unsure or q.tones_set_aside:
        key = "tones"
    if q.tones_unsure:
        key += "_unsure"
        parts["unsure"] = str(q.tones_unsure)
    if q.tones_set_aside:
        key += "_aside"
        parts["aside"] = str(q.tones_set_aside)
    return words.say(key, **parts)


def _silence(ear: EarFindings, words: Words) -> str:
    """Return what pauses and catch trials told of presses without a tone."""
    q = ear.quality
    said = []
    if q.pauses:
        pressed = str(q.pauses_pressed)
        said.append(words.say("silence_pauses", pressed=pressed, pauses=str(q.pauses)))
    if q.catch_trials:
        parts = {"alarms": str(q.false_alarms), "catches": str(q.catch_trials)}
        if q.unsure_alarms:
            unsure = str(q.unsure_alarms)
            said.append(words.say("silence_catches_unsure", **parts, unsure=unsure))
        else:
            said.append(words.say("silence_catches", **parts))
    return "; ".join(said) or NOTHING


def _checks(ear: EarFindings, words: Words) -> list[tuple[str, str]]:
    """Return what checked the answers to tones; not what a test of this conduct does not have."""
    q = ear.quality
    rows = []
    if q.checks is not None:
        rows.append((words.say("checks_missed"), _some_of(q.checks_missed, q.checks, words)))
        rows.append((words.say("doubted"), f"{q.doubted_tones}"))
    if q.retest_wanted or q.retest_verdict:
        rows.append((words.say("retest"), _retest(ear, words)))
    return rows


def _retest(ear: EarFindings, words: Words) -> str:
    q = ear.quality
    if q.retest_difference_db is None:
        return words.say("retest_none")
    difference_db = words.number(q.retest_difference_db, "+.1f")
    if not q.retest_verdict:  # recorded, and the answers have no retest: not as recorded
        return f"{difference_db} dB"
    verdict = words.name_of("retest", q.retest_verdict)
    return words.say("retest_value", difference_db=difference_db, verdict=verdict)


def _response(ear: EarFindings, words: Words) -> str:
    times = ear.quality.response_times
    if times is None or times.median_ms is None:
        return NOTHING
    median = words.number(times.median_ms)
    if times.first_quartile_ms is None or times.third_quartile_ms is None:
        return words.say("response_value", median=median)
    low, high = map(words.number, (times.first_quartile_ms, times.third_quartile_ms))
    return words.say("response_middle", median=median, low=low, high=high)


def _sd(ear: EarFindings, words: Words) -> str:
    q = ear.quality
    if q.posterior_sd_db is None or q.posterior_sd_max_db is None:
        return NOTHING
    mean, most = (
        words.number(sd_db, ".1f") for sd_db in (q.posterior_sd_db, q.posterior_sd_max_db)
    )
    return words.say("posterior_sd_value", mean=mean, most=most)


def masking_levels(session: RecordedSession, route: Route) -> dict[int, tuple[float, float]]:
    """Return the least and the most effective masking level in the other ear, by frequency, dB.

    Of the tones whose answers count; nothing of a session that is not replayed.
    """
    if session.test is None:
        return {}
    return session.test.given.noise_at(route, session.counted)


def noise_level(levels_db: tuple[float, float] | None, catalogue: Catalogue) -> str:
    """Return the masking levels of a frequency in words."""
    if levels_db is None:
        return "-"
    low, high = map(catalogue.number, levels_db)
    return low if low == high else catalogue.say("record", "noise_range", low=low, high=high)
