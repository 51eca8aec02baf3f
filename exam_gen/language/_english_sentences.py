"""Which English sentences lean on their neighbours, judged by words and forms."""

from __future__ import annotations

import re

from exam_gen.language._tagging import commands, dangling, has_finite_verb

_LEANS = re.compile(
    r"^[\"'(*]*(?:However|Also|Important|Warning|Caution|Thus|Therefore|Hence|Furthermore|Moreover|Additionally|Note"
    r"|Otherwise|Similarly|Likewise|For (?:example|instance|more|details|this|that|these)|In (?:addition|particular"
    r"|other words|contrast|summary|short|general|fact|total|turn|all|both|most|some|many|each|either|response"
    r"|conclusion)|It|They|That|He|She|His|Her|One|Their|Its|There|We|Our|The (?:latter|former|same|second|first|third"
    r"|next|last|other|above|following|previous|result|rest|reason|only|main|key|difference)|If (?:so|not)|And|But|So"
    r"|Or|Then|As (?:mentioned|before|shown|noted|such|a|with|in)|Question|Edit|Top answer|Answer|Source|Update"
    r"|Returns?|Called|Execute|Print|Enter|Sets?|Start|Continue|Create|Delete|Remove|Show|Display|Choose|Select|Open"
    r"|Specify|Click|Type|Changed? in|New in|Added in|Deprecated|Optional|Alternatively|Use|If used|More|Most|Both"
    r"|Neither|Either|Each|Like|Unlike|Suspend|Without|Some|Many|Several|Other|Others|Another|Such|Given|Finally|First"
    r"|Second|Third|Next|Later|Instead|Still|Yet|Besides|Nevertheless|Indeed|Again|Too|Only|Even|Just|Now|Here|Because"
    r"|Since then|Meanwhile|Consequently|Accordingly|Conversely|Specifically|Usually|Typically|Often|Sometimes|Doing"
    r"|Failing|Passing|Using|Having|Being|Make sure|Ensure|Repeat|Verify|Confirm|Configure|Update|Add|Run|Copy|Replace"
    r"|Provide|Review|Navigate|Save|Configured|Applies|Allows?|Specifies|Indicates|Contains?|Represents?|Grants?"
    r"|Required|Yes|No|Not|To (?:do|view|learn|create|use|see)|Extensive|Experiment\w*|Empirical\w*|Numerical|Results"
    r"|Simulation\w*|Evaluation\w*|Importantly|Notably|Interestingly|Surprisingly|Unfortunately|Crucially|Further"
    r"|In reality|Findings|Different from|Different to|Overall|Ultimately|Basically|Essentially|Actually|Apparently"
    r"|Obviously|Fortunately)\b"
)
_POINTS = re.compile(
    r"\b(?:sections?|chapters?|appendix|documentation|figures?|tables?|examples?|below|above|following|previously|this"
    r"|these|those|such|here|(?-i:I)|me|my|you|your|so-called|see|refer to|click|choose|et al|do so|does so|doing so"
    r"|that (?:kind|case|way|time|sort|type|same|year|point)|the (?:same|other|latter|former|others|resulting|new|said"
    r"|two|three|four|rest|paper|study|authors?|article|abstract|answer|question|claim|question)|each other"
    r"|one of them|previous|next (?:section|step|line)|left|right-hand|navigation|pane|button|both|either|as (?:well"
    r"|follows)|shown|mentioned|described|explained|respectively|aforementioned|line \d+|(?:first|second|third"
    r"|last) (?:line|row|column|case|one))\b",
    re.IGNORECASE,
)
_NEEDS_OTHERS = re.compile(
    r"\b(?:we|our|us|he|she|his|her|him|also|instead|then|too|therefore|thus|hence|however|furthermore|moreover"
    r"|state-of-the-art|sota|outperforms?|propos(?:e|es|ed|ing)|demonstrat\w+|experiment\w*|baselines?|competitive"
    r"|promising|superior|significantly|novel|efficacy|extensive)\b",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"^(?:[^,]{4,120}, )?(?:enter|enable|disable|choose|select|view|use|specify|apply|read|get|set|add|make|turn|check"
    r"|open|create|delete|remove|include|keep|consider|try|wait|put|change|move|give|attach|assign|install|configure"
    r"|contact|avoid|let|note|find|follow|define|describes?|call|complete|modify|retrieve|register|restart|stop|go"
    r"|identify|upload|download|test|store|allows?|enables?|indicates?|specifies|list|lists|write|build|calculate"
    r"|develop)\s(?!of\b|is\b)",
    re.IGNORECASE,
)
_EARLY_PRONOUN = re.compile(r"^(?:\W*\w+){0,5}?\W*\b(?:it|its|they|them|their|there)\b", re.IGNORECASE)
_RUN_TOGETHER = re.compile(
    r"\w (?:Important|Note|Warning|Tip|Caution|Example|Remember) [A-Z]|\b[A-Z]{3,}[A-Z]{2,}[a-z]{2,}"
    r"|[a-z]{3,}[A-Z]{3,}[a-z]{2,} |[a-z)`] (?:The|This|It|In|If|When|A|An|You|We|For|To|However|Note|Use"
    r"|By)\s(?=[a-z`\"])|[a-z]\.[A-Z][a-z]+ [a-z]|^(?:[A-Z][\w-]* )?[\w .`()*-]{2,60}: [A-Z]"
    r"|(?<!\w)[-–—] [A-Z][a-z]+s? |:\s*\W?$"
)
_CITES = re.compile(r"^\(|\b[A-Z][a-z]+ [A-Z]{1,3}[,.]|\bdoi\b|\bpp?\. ?\d|\bvol\.? ?\d|\b\d{4};\s?\d")
_EXAMPLE = re.compile(
    r"\b(?:Account|User|Instance|Step|Bucket|Group|Person|Table|Option|Case|Client|Server|Node|Host|Region|Subnet|Team"
    r"|Company|Role|Policy|Key|Item|Model|Method|Group) (?:[A-Z]|\d{1,3})(?![\w.])|\b[Rr]ule \d+|\b[Ss]uppose\b|EXAMPLE"
)
_EXAMPLE_TITLE = re.compile(r"\b(?:examples?|tutorials?|walkthroughs?|exercises?|history)\b", re.IGNORECASE)


def leans(sentence: str, title: str) -> bool:
    """Whether an English sentence under its document's title needs a neighbour to be understood.

    It opens a list or leans on one before it, points to a figure or screen, tells an example, gives a command, speaks
    of "we", or does not name what it speaks of: "the function" alone is a thing that another sentence introduced.
    """
    if _LEANS.match(sentence) or _POINTS.search(sentence) or _NEEDS_OTHERS.search(sentence) or _ORDERS.match(sentence):
        return True
    if _EARLY_PRONOUN.search(sentence) or _RUN_TOGETHER.search(sentence):
        return True
    if _EXAMPLE.search(sentence) or _EXAMPLE_TITLE.search(title) or _CITES.search(sentence):
        return True
    return not has_finite_verb(sentence) or commands(sentence) or dangling(sentence, title) is not None
