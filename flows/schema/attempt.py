"""What an attempt at a report counts as: one rule for our own attempts and for imported ones."""

from enum import StrEnum

from flows.schema.brief import BriefStatus


class End(StrEnum):
    """Who ended an attempt."""

    model = "model"  # it stopped, reached a limit, or wrote calls that can't be answered
    refusal = "refusal"  # the model or its provider refused to go on
    fault = "fault"  # the provider, the network or the machine failed; not the model's doing


def attempt_status(end: End, *, has_report: bool) -> BriefStatus:
    """Return the status of an attempt.

    A report that is there when the model stops or refuses is graded. Without one the attempt is `missing`,
    which scores 0, or `refused`. After a fault there is no score, with or without a report, since the attempt
    could have gone on.
    """
    if end is End.fault:
        return BriefStatus.error
    if has_report:
        return BriefStatus.written
    return BriefStatus.refused if end is End.refusal else BriefStatus.missing
