"""Counts of users who hold a category: inputs are the categories, or the hash values of them."""

from __future__ import annotations

from typing import Any

from mechdesign.errors import InvalidInput
from mechdesign.values.declare import evolved
from mechdesign.words.classes import Together
from mechdesign.words.counts import counts_of, require_population, require_share, share_words
from mechdesign.words.criteria import Average, Worst
from mechdesign.words.domains import Finite
from mechdesign.words.fits.words import Words, usual_words
from mechdesign.words.privacy import Collusion, Hidden

_ENCODED = {
    "response": "",
    "unary": "; each bit of symmetric unary encoding at half the eps",
    "hashing": "; hash values",
}
_PAIR = Finite((0, 1))


def settled(problem: Any) -> dict[str, Any]:
    """Two categories unless others are said, and how many answers a report has; `InvalidInput` for words of others."""
    privacy, among = problem.privacy, problem.among
    if not isinstance(privacy, Hidden | Collusion):
        step = "for example privacy.Hidden(1.0, users=1000)"
        raise InvalidInput("privacy", privacy, "say how many users answer, Hidden or Collusion", step)
    if not isinstance(among, Together):
        raise InvalidInput("among", among, "be Together() where users are counted", "take classes.Together()")
    inputs = _PAIR if problem.inputs is None else problem.inputs
    if not isinstance(inputs, Finite) or len(inputs) < 2 or inputs.points != tuple(range(len(inputs))):
        raise InvalidInput("inputs", str(inputs), "be the numbers of categories, 0 and 1 at least", "leave them out")
    _require_criterion(problem)
    if isinstance(privacy, Collusion):
        _require_groups(privacy, among)
        _require_share(problem, len(inputs))
        return {"inputs": inputs}
    if among.group is not None:
        raise InvalidInput("group", among.group, "be left out: Hidden is about all users together", "leave it out")
    is_unary = among.encoding == "unary"
    _require_share(problem, 2 if is_unary else len(inputs))
    answers = 2 if is_unary else 1
    if privacy.answers not in (1, answers):
        raise InvalidInput("answers", privacy.answers, "be 2 for the bits of unary encoding alone", "leave them out")
    return {"inputs": inputs, "privacy": evolved(privacy, answers=answers)}


def _require_groups(privacy: Collusion, among: Together) -> None:
    """Whole groups, and at most a cap for each partner in one."""
    if among.group is None:
        step = "for example Together(group=2)"
        raise InvalidInput("group", None, "be how many users answer together where others collude", step)
    if among.encoding != "response":
        raise InvalidInput("encoding", among.encoding, "be response in groups", "bits and hash values are for Hidden")
    if privacy.users < among.group:
        raise InvalidInput("group", among.group, f"be at most the number of users, {privacy.users}")
    require_population(privacy.users, among.group)
    if len(privacy.caps) > among.group - 1:
        rule = f"have at most {among.group - 1} entries, one for each partner in a group of {among.group}"
        raise InvalidInput("conditional eps", privacy.caps, rule, "a larger --group has more partners")


def _require_criterion(problem: Any) -> None:
    """The mean under a prior on the share, else the share in question or the worst of them."""
    criterion = problem.criterion
    if problem.loss.is_under_prior:
        if not isinstance(criterion, Average) or criterion.prior is not None:
            raise InvalidInput("criterion", criterion.words, "be Average() without a prior: the share has it")
    elif not isinstance(criterion, Worst):
        rule = "be Worst() where the share is a number or a range"
        raise InvalidInput("criterion", criterion.words, rule, "give Count a prior on the share for the mean")


def _require_share(problem: Any, categories: int) -> None:
    share = problem.loss.share
    require_share(share, categories)
    if isinstance(share, tuple):
        counts_of(share, problem.privacy.users)
        if problem.among.encoding == "hashing":
            raise InvalidInput("share", share, "be a number or a prior for hash values")


def words(problem: Any) -> Words:
    """The variance of the count, said in one line."""
    privacy, headline = problem.privacy, "variance of the estimated count"
    values = f", {len(problem.inputs)} values" if len(problem.inputs) > 2 else ""
    share = share_words(problem.loss.share, privacy.users)
    if isinstance(privacy, Collusion):
        colluding = f"{privacy.colluders or 'none'} collude{_capped(privacy)}"
        who = f"{privacy.users} users in random groups of {problem.among.group}{values}, {share}, {colluding}"
        heading = f"Joint randomised response, {privacy.words}: {who}"
    else:
        encoded = _ENCODED[problem.among.encoding]
        heading = f"Hidden joint response, {privacy.words}: {privacy.users} users together{values}, {share}{encoded}"
    return usual_words(
        problem, "variance", headline, headline=headline, subject=f"{privacy.users} users", heading=heading
    )


def _capped(privacy: Collusion) -> str:
    caps = [(known, cap) for known, cap in enumerate(privacy.caps, start=1) if cap is not None]
    return "".join(f", eps at most {cap:g} for who knows {known} of a group" for known, cap in caps)
