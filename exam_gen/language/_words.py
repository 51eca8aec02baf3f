"""Closed word lists by which spans are told apart: verbs, and nouns that say nothing."""

from __future__ import annotations

_PLAIN_VERBS = """accept access achieve act add affect agree allow announce appear apply argue arise ask assert assume
    attempt avoid bear begin behave believe belong bind break bring build burn buy call carry cause choose claim come
    compare compute conclude confirm consider consist contain continue convert correspond create cut deal decide declare
    decrease define delete demonstrate denote depend derive describe determine develop die differ discover discuss drive
    drop eat emulate enable encourage end ensure enter establish evaluate examine execute exist expect explain express
    extract facilitate fail fall feel find finish fit fix follow force found generate get give go grow handle happen
    hear help hide hold identify ignore illustrate imply import improve include increase indicate inherit introduce
    invoke involve iterate join keep know lack last lead learn leave let lie live look lose love maintain make mean meet
    modify move obtain occur offer open outperform override perform permit persist pick place play point possess prefer
    present prevent print proceed produce propose protect prove provide publish pull put raise reach read receive
    recommend reduce refer regulate reject relate rely remain remove render replace report represent require resemble
    resolve restrict select accompany surround return reveal rise run satisfy say see seek seem sell send serve show sit
    solve speak specify spend stand start state stay steal stop store suffer suggest supply support suppose suppress
    take talk teach tell tend terminate think throw treat try turn understand undergo vary wait walk want watch wear win
    work worry write yield"""

_IRREGULAR = """ate arose became began bought brought built came chose cut dealt did drove fell felt found gave got grew
    went had heard held hid kept knew led left lay lost made meant met proved put ran rose said sat saw sent shown shut
    sold sought spent spoke stood stole taken taught thought threw told took tried understood varied won wore written
    wrote lies dies tries varies relies applies implies carries denies specifies identifies modifies satisfies"""


def _inflected(verb: str) -> set[str]:
    """The third person and the past of a regular verb; its base is left out where nouns are spelled alike."""
    ending = "es" if verb.endswith(("s", "x", "ch", "sh", "o")) else "s"
    return {verb + ending, verb + ("d" if verb.endswith("e") else "ed")}


_ALSO_NOUNS = frozenset(
    """access act attempt break burn call cause claim cut deal drop end fall finish fit fix force handle help import
    increase decrease lack last lead love look move offer place play point present print report return run show
    stand start state stay stop store support supply talk try turn wait walk watch win work worry yield return rise
    express open treat experience""".split()  # noqa: SIM905
)
_NOUN_PLURALS = frozenset(
    """accesses acts attempts breaks burns calls causes claims cuts deals drops ends falls fits fixes forces handles
    imports increases decreases leads places plays points presents prints reports returns runs states stops stores
    supports supplies turns values works yields uses""".split()  # noqa: SIM905
)

VERBS = (
    frozenset(_PLAIN_VERBS.split()) - _ALSO_NOUNS
    | {form for verb in _PLAIN_VERBS.split() for form in _inflected(verb)} - _NOUN_PLURALS
    | frozenset(_IRREGULAR.split())
)
"""Forms that are nearly always verbs; one of them in a run of words means that it is no noun phrase."""

GENERIC = frozenset(
    """example examples following case cases thing things way ways lot kind kinds type types sort number point fact
    time times people person someone text question answer article paper study section page result results order part
    method methods approach work value values name names object objects word words use user users something anything
    first second third last next new same different other others above below more most several various certain similar
    addition amount bit claim claims evidence reason reasons problem problems""".split()  # noqa: SIM905
)

PREPOSITIONS = frozenset(
    """for in between from with on at to within during under among into behind where why""".split()  # noqa: SIM905
)
"""What tells which of its kind a thing is, when it follows."""

RANKS = frozenset(
    """second third fourth last next other others same former latter first new whole above""".split()  # noqa: SIM905
)
"""What points to a series or to an earlier mention."""

KNOWN_TO_ALL = frozenset(
    """internet world time past future present public sun earth moon web user reader brain body""".split()  # noqa: SIM905
)
"""Things that need no introduction."""
