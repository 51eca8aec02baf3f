"""How English questions refer to the text they were written from, or to a thing that they never name."""

from __future__ import annotations

import re

# Always about a text when pointed at.
_TEXTS = (
    r"documentation|passage|article|paper|excerpt|abstract|snippet|research|study|studies|authors?|blog\s+post|write-?up"
    r"|extract|paragraph|filing|reading"
)
# Often about something else ("the text editor", "the table"): only with a word that points.
_THINGS = (
    r"text|documents?|context|section|chapter|examples?|figure|table|page|statements?|sentence|question|answer|code|diagram"
    r"|list|quote|quotation|report|post|thread|description|information|definition|grammar|topic|discussion|material|content"
    r"|notes?|output|scenario"
)
_GIVEN = (
    r"(?:given|provided|above|preceding|previous|aforementioned|accompanying|supplied|quoted|cited|presented|attached"
    r"|shown)"
)
_SAYING = (
    r"(?:mention|describ|stat|say|said|discuss|explain|suggest|specif|list|show|present|provid|refer|indicat|note|claim|propos"
    r"|argu|introduc|conclud|report|demonstrat|illustrat|outlin)\w*"
)
_WITH = r"(?:according\s+to|based\s+(?:up)?on|as\s+per|per|in|from|by|within|under|throughout|following)"
_COMPOUND = (
    r"(?!\s+(?:editor|file|field|box|area|string|object|node|type|name|format|mode|level|store|size|root|block|row|column"
    r"|manager|processing|encoding|wrapping|database|model|element|id|index|variable|parameter))"
)

REFERENCES = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"\b(?:the|this|that|these|those|our|your)\s+(?:\w+\s+)?(?:{_TEXTS})\b(?!\s+(?:materials?|groups?|design|strings?|comments?|tools?|generators?|titles?))",
        rf"\b(?:the|this|that|these|those)?\s*\b{_GIVEN}\s+(?:\w+\s+)?(?:{_THINGS}|{_TEXTS})\b{_COMPOUND}",
        rf"\b(?:the|this|that|these|those)\s+(?:{_THINGS})\s+(?:{_GIVEN}|below|{_SAYING}|does|do|refers?)\b(?!\s+(?:for|when|to\s+be))",
        rf"\b(?:according\s+to|based\s+(?:up)?on|as\s+per)\s+(?:the|this|that|these|those)\s+(?:{_THINGS})\b{_COMPOUND}",
        rf"\b{_WITH}\s+(?:the|this|that)\s+(?:{_THINGS})\s*[,?.]",
        rf"\b(?:as|is|are|was|were)\s+(?:\w+ly\s+)?{_SAYING}\s+(?:above|below|earlier|here|previously|in\s+the\s+(?:{_THINGS}|{_TEXTS}))\b",
        r"\b(?:mentioned|described|discussed|listed|shown|stated|provided|given)\s+(?:above|below|earlier)\b|\bthe\s+above\b",
        r"\b(?:discussed|addressed|described|presented|proposed)\s+in\s+[\"“][^\"”]+[\"”]",
        rf"\b(?:{_TEXTS})\s*,?\s*[\"“][^\"”]+[\"”]|\btitled\s+[\"“]",
        r"\b(?:in|see|from|of)\s+(?:figure|fig\.|table|section|chapter|appendix|listing|equation|eq\.)\s+\d",
        r"\bin\s+this\s+(?:example|case|context|code|scenario|question|section)\b",
        r"\b(?:that|this)\s+same\s+\w+|\b(?:of|than|by|does|do|is|are)\s+the\s+(?:former|latter)\b(?!\s+(?:\w+\s+)?(?:of|name))"
        r"|\bthe\s+previous\s+(?:question|answer|passage)\b",
        r"\bthe\s+(?:author|speaker|writer|narrator|questioner|answerer|asker|poster|top\s+answer|original\s+poster)s?\b",
    )
)
"""What points to a text."""

_ASKS = r"(?:what|which|how|why|when|where|who|whose|whom)"
_IS = r"(?:is|are|was|were|does|do|did|can|could|should|would|will|has|have|had|might|may|must)"
_EXPLETIVE = (
    r"(?!\s+that\b)(?!\s+(?:\w+ly\s+)?(?:mean|possible|impossible|necessary|important|useful|recommended|required|common|best|better|safe"
    r"|true|false|called|likely|unlikely|take|takes|help|matter|cost|legal|allowed|advisable|easy|hard|difficult|rain))"
    r"(?!\s+(?:not\s+)?(?:an?\s+)?\w+(?:\s+(?!than\b)[\w-]+){0,3}\s+(?:to|that)\b)"
)
UNNAMED = (
    re.compile(
        rf"^(?:[^,.;?]{{0,40}}\b)?{_ASKS}(?:\s+\w+){{0,3}}?\s+{_IS}(?:n['’]t)?\s+(?:it|they|he|she)\b{_EXPLETIVE}", re.I
    ),
    re.compile(
        rf"^{_ASKS}(?:\s+\w+){{0,3}}?\s+{_IS}(?:n['’]t)?\s+(?:this|these|those|that)\b(?!\s+\w+\s+(?:which|that|who|where)\b)",
        re.I,
    ),
    re.compile(rf"^{_ASKS}\s+{_IS}(?:n['’]t)?\s+(?:his|her|their|its)\s+\w", re.I),
    re.compile(rf"^{_IS}\s+(?:it|they|this|these|those)\b{_EXPLETIVE}", re.I),
    re.compile(r"^(?:it|they|this|these|those|he|she|his|her|their|its)\b(?!\s+is\s+\w+\s+to\b)", re.I),
    re.compile(
        rf"^{_ASKS}\b[^,.;?]{{0,60}}\b(?:of|in|for|by|with|to|from|about|using)\s+(?:this|these|those)\s+\w+", re.I
    ),
    re.compile(rf"^{_ASKS}(?:\s+\w+){{0,3}}\s+(?:it|them)\s*\?$", re.I),
)
"""Stems that begin so speak of a thing that they do not name."""
