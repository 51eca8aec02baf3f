"""German: prompts, and the words by which rules read German texts. The word lists are ours."""

from __future__ import annotations

import re
from itertools import groupby

from exam_gen.language._exam_language import GAP, MOST_WORDS, ExamLanguage, FoundSpan, WriterPrompts, leaning_on
from exam_gen.language._tagging import Token, tokens

_PROMPTS = WriterPrompts(
    version="de-1",
    topic="Thema:",
    sentence="Satz:",
    question="Frage:",
    answer="Antwort:",
    statement="Aussage:",
    gap="Die Lücke:",
    exam_question="Prüfungsfrage:",
    plain_words="In einfachen Worten:",
    right_answer="Richtige Antwort:",
    wrong_answers="Falsche Antworten:",
    proposed_answer="Vorgeschlagene Antwort:",
    reply="Antwort:",
    yes="Ja",
    no="Nein",
    question_system="Du schreibst Prüfungsfragen zu einzelnen Tatsachen. Eine Frage nennt ihren Gegenstand mit vollem "
    "Namen, behält die Bedingungen des Satzes bei, ist ohne ihn verständlich und enthält die Antwort nicht. Die "
    "Antwort besteht aus wenigen Wörtern, die aus dem Satz abgeschrieben sind.",
    crossing="Der Satz steht in einer anderen Sprache; Frage und Antwort sind auf Deutsch.",
    gap_system="Du machst aus Aussagen mit einer Lücke Fragen. Die Frage fragt nach dem, was die Lücke füllt, enthält "
    "es nicht, nennt ihren Gegenstand mit vollem Namen und ist ohne die Aussage verständlich.",
    wording_system="Du sagst Prüfungsfragen mit einfachen Alltagswörtern, so wie jemand fragt, der dieselbe Antwort "
    "braucht. Die Sache, nach der gefragt wird, behält ihren Namen; alle anderen Wörter ändern sich.",
    wrong_system="Du schreibst falsche Antworten zu Prüfungsfragen. Jede ist falsch, glaubhaft für jemanden, der die "
    "Tatsache nicht kennt, und hat Form und Länge der richtigen Antwort.",
    search_request="Jemand hat etwas gesucht und wurde auf diesen Text verwiesen, der geholfen hat. Wie lautete die "
    "Frage, in eigenen Alltagswörtern und nicht in denen des Textes? Antworte auf Deutsch mit einer kurzen Frage.",
    open_request="Antworte mit wenigen Wörtern, die aus dem Text abgeschrieben sind.",
    answerable_request="Beantwortet der Text diese Frage? Antworte mit Ja oder Nein.",
    judgment_request="Ist diese Antwort nach dem Text richtig und vollständig? Antworte mit Ja oder Nein.",
    about="Schreibe einen deutschen Satz über {title}.",
    closed_request="Antworte mit wenigen Wörtern auf Deutsch.",
    completion="{title}: Welche Antwort ergänzt die Aussage „{statement}“?",
    question_examples=(
        (
            "Asynchronmotoren",
            "Ein Asynchronmotor nimmt beim Anlaufen das Sechsfache seines Nennstroms auf.",
            "Wie viel Strom nimmt ein Asynchronmotor beim Anlaufen auf?",
            "das Sechsfache seines Nennstroms",
        ),
        (
            "tar",
            "Wird die Option weggelassen, schreibt tar das Archiv in die Standardausgabe.",
            "Wohin schreibt tar das Archiv, wenn die Option weggelassen wird?",
            "in die Standardausgabe",
        ),
        (
            "Bienen im Winter",
            "Das Volk übersteht die Kälte, weil die Arbeiterinnen eine Traube um die Königin bilden.",
            "Was bilden die Arbeiterinnen eines Bienenvolks, um die Kälte zu überstehen?",
            "eine Traube um die Königin",
        ),
    ),
    gap_examples=(
        (
            "Überwinterung der Bienen",
            f"Das Volk übersteht die Kälte, weil {GAP} eine Traube um die Königin bilden.",
            "die Arbeiterinnen",
            "Welche Bienen bilden bei Kälte eine Traube um die Königin?",
        ),
        (
            "Skorbut",
            f"Ein Versuch an Bord eines Schiffes zeigte 1747, dass {GAP} Skorbut heilen.",
            "Zitrusfrüchte",
            "Welche Früchte heilten 1747 im Versuch an Bord eines Schiffes Skorbut?",
        ),
        (
            "Mietverträge in Ontario",
            f"Ein Mieter, der ohne Kündigung auszieht, schuldet {GAP}.",
            "zwei Monatsmieten",
            "Wie viel Miete schuldet in Ontario ein Mieter, der ohne Kündigung auszieht?",
        ),
        (
            "Asynchronmotoren",
            f"Ein Asynchronmotor nimmt beim Anlaufen {GAP} auf.",
            "das Sechsfache seines Nennstroms",
            "Wie viel Strom nimmt ein Asynchronmotor beim Anlaufen auf?",
        ),
        (
            "tar",
            f"Wird die Option -f weggelassen, schreibt tar das Archiv in {GAP}.",
            "die Standardausgabe",
            "Wohin schreibt tar das Archiv, wenn die Option -f weggelassen wird?",
        ),
    ),
    wording_examples=(
        (
            "Wie viel Strom nimmt ein Asynchronmotor beim Anlaufen auf?",
            "wie viel Ampere zieht ein Drehstrommotor beim Einschalten?",
        ),
        (
            "Wohin schreibt tar das Archiv, wenn die Option -f weggelassen wird?",
            "tar ohne Dateiname, wo landet das dann?",
        ),
        (
            "Was bilden die Arbeiterinnen eines Bienenvolks, um die Kälte zu überstehen?",
            "wie halten sich Honigbienen im Winter warm?",
        ),
        ("Welcher Vitaminmangel verursacht Skorbut?", "was fehlt jemandem im Essen, der Skorbut bekommt?"),
        (
            "Wie lang ist die Mindestfrist für die Kündigung eines Mietvertrags in Ontario?",
            "wie früh muss ein Mieter in Ontario sagen, dass er auszieht?",
        ),
        ("Wer hat den Rückgang der Sperlinge in London erfasst?", "wem fiel auf, dass London weniger Spatzen hat?"),
        (
            "Warum erhalten ältere Patienten niedrigere Dosen Digoxin?",
            "wieso sollen alte Leute weniger Digoxin nehmen?",
        ),
    ),
    wrong_examples=(
        (
            "Wie viel Strom nimmt ein Asynchronmotor beim Anlaufen auf?",
            "das Sechsfache seines Nennstroms",
            "die Hälfte seines Nennstroms; das Zehnfache seines Leerlaufstroms; das Doppelte seines Bremsstroms; genau "
            "seinen Nennstrom",
        ),
        (
            "Was bilden die Arbeiterinnen eines Bienenvolks, um die Kälte zu überstehen?",
            "eine Traube um die Königin",
            "eine Wand vor dem Flugloch; eine Kette zwischen den Waben; einen Ring unter dem Honig; eine Schicht über "
            "der Brut",
        ),
    ),
)

_TEXT = (
    r"(?:Text|Satz|Abschnitt|Absatz|Artikel|Dokument|Kapitel|Handbuch|Auszug|Beitrag|Passage|Aussage|Tabelle|Abbildung"
)
_TEXT += r"|Beispiel|Kontext|Dokumentation|Anleitung|Liste|Grafik|Code)\w{0,2}"
_THIS = r"diese[rsmn]?|jene[rsmn]?|obige[rsmn]?|folgende[rsmn]?|genannte[rsmn]?|gegebene[rsmn]?|vorliegende[rsmn]?"
_SAID = r"erwähnt|beschrieben|genannt|gezeigt|angegeben|aufgeführt|erläutert|dargestellt"
_W = r"was|welche[rsmn]?|wer|wem|wen|wessen|wo|wohin|woher|wann|warum|wieso|weshalb|wie|wie\s?viele?|wozu|womit|wodurch"
_W += r"|wofür|woran|worauf|woraus|worin|wovon|worüber|wobei|wonach|wogegen"
_IS = r"ist|sind|war|waren|wird|werden|wurde|wurden|hat|haben|hatte|kann|können|muss|müssen|soll|sollen|darf|dürfen"
_IS += r"|macht|tut|bewirkt|bedeutet|gibt"

_MODEL = "morphmodel_ger.pgz"
"""HanTa's model of German."""
_NOUNS = frozenset({"NN", "NE", "TRUNC"})
"""Tags of nouns and names (STTS)."""
_DETERMINERS = frozenset({"ART", "APPRART", "PPOSAT", "PDAT", "PIAT"})
"""Tags of words after which adjectives have weak or mixed endings."""
_EMPTY = frozenset(
    """beispiel beispiele fall fälle ding dinge art arten weise mal teil teile sache sachen form formen person leute
    wert werte wort wörter zahl anzahl name namen grund gründe problem probleme ergebnis frage antwort text abschnitt
    kapitel tabelle möglichkeit möglichkeiten reihe menge benutzer anwender""".split()  # noqa: SIM905
)
"""Nouns that say nothing as a key."""


def _runs(sentence: str) -> list[list[Token]]:
    """The runs of adjectives and nouns that end in a noun; an adjective after an article has an ending of its own.

    Such an adjective is left out: "das offene Tor" gives "Tor", because "offene Tor" is no answer.
    """
    runs, before = [], ""
    for inside, found in groupby(tokens(sentence, _MODEL), key=lambda one: one.tag in {*_NOUNS, "ADJ(A)", "CARD"}):
        run = list(found)
        if inside:
            while run and run[-1].tag not in _NOUNS:
                run.pop()
            while run and run[0].tag == "ADJ(A)" and before in _DETERMINERS:
                run.pop(0)
            runs += [run] if run else []
        else:
            before = run[-1].tag
    return runs


def _phrases(sentence: str) -> list[FoundSpan]:
    found = []
    for run in _runs(sentence):
        text, words = sentence[run[0].start : run[-1].end], [one.text.lower() for one in run]
        if (
            len(run) <= MOST_WORDS
            and len(text) > 3
            and words[-1] not in _EMPTY
            and re.fullmatch(r"[^\W\d][\w -]*", text)
        ):
            found.append(FoundSpan(text, f"phrase:{len(run)}s", run[0].start))
    return found


def _names_thing(sentence: str, text: str) -> bool:
    """Whether a piece of a sentence holds no verb, ends in a noun and does not begin with a preposition."""
    start = sentence.find(text)
    inside = [one for one in tokens(sentence, _MODEL) if start <= one.start and one.end <= start + len(text)]
    tags = [one.tag for one in inside if one.text[:1].isalnum()]
    return bool(tags) and tags[-1] in _NOUNS and not any(one.startswith(("V", "P", "K")) for one in tags)


_LEANS = leaning_on(
    r"es|sie|er|das|dies\w*|jene\w*|dort|hier|dabei|dazu|dafür|dadurch|damit|danach|daher|deshalb|deswegen|darum|somit"
    r"|also|außerdem|zudem|ferner|jedoch|allerdings|dennoch|trotzdem|andernfalls|ansonsten|sonst|ebenso|auch|beide\w*"
    r"|zum beispiel|z\. ?b\.|beispielsweise|insbesondere|und|oder|aber|denn|doch|dann|zuerst|zunächst|anschließend"
    r"|schließlich|weitere\w*|andere\w*|einige|manche|viele|hinweis|achtung|tipp|anmerkung|warnung|bitte|siehe|wir|ich"
    r"|sein\w*|ihre?\w?|man|falls sie|wenn sie|\w+en sie|der erste\w*|der zweite\w*|der letzte\w*|die beiden"
    r"|im folgenden|nachfolgend|oben|unten|ja|nein|nun|jetzt|so|solche\w*",
    r"siehe|abschnitt\w*|kapitel\w*|abbildung\w*|tabelle\w*|anhang|oben|unten|folgende[rsmn]?|obige[rsmn]?"
    r"|dies(?:e[rsmn]?)?|jene[rsmn]?|hier|wir|uns|unser\w*|ich|mein\w*|mich|ihnen|(?-i:Sie|Ihr|Ihre[rsmn]?)|erwähnt\w*"
    r"|beschrieben\w*|letztere\w*|erstere\w*|klicken|beispiel|z\. ?b\.|beide[rsmn]?|ebenfalls|auch|daher|deshalb|jedoch"
    r"|vorige\w*|nächste\w*|gezeigt\w*|genannte\w*|derselbe\w*|dieselbe\w*|dasselbe",
)


def _leans(sentence: str, title: str) -> bool:
    """Whether a sentence begins or points so that it needs others, or states nothing."""
    finite = any("(FIN)" in one.tag for one in tokens(sentence, _MODEL))
    return not finite or _LEANS(sentence, title)


GERMAN_MODULE = ExamLanguage(
    code="de",
    prompts=_PROMPTS,
    question_word=re.compile(rf"\b(?:{_W})\b", re.I),
    yes_no=re.compile(rf"^(?:{_IS}|gibt es|lässt|sollte\w*|könnte\w*|dürfte\w*|wäre\w*)\b", re.I),
    first_person=re.compile(r"\b(?:ich|wir|uns|unser\w*|mich|mir|mein\w*|du|dich|dir|dein\w*)\b", re.I),
    mentions_text=re.compile(
        rf"\b(?:{_THIS}|de[rsmn]|die|das|im|laut) (?:\w+ )?(?:Text|Satz|Absatz|Artikel|Auszug|Passage)\w{{0,2}}\b"
        rf"|\b(?:{_THIS}) {_TEXT}\b|\berwähnte?\w*\b|{GAP}",
        re.I,
    ),
    open_ended=re.compile(
        r"\b(?:nenne\w*|geben? \w* ?ein) |\bwas (?:ist|sind) (?:ein(?:e|er|es)? (?:beispiel|wichtig\w*|häufig\w*)"
        r"|einige)|\bwelche (?:beispiele|vorteile|möglichkeiten)\b|\bwas ist (?:die|der|das) (?:haupt\w+|bedeutung"
        r"|wichtigkeit)\b",
        re.I,
    ),
    asks=re.compile(
        rf"^(?:(?:{_W})\s+(?:(?:{_IS})\s+)?(?:(?:ich|man|wir)\s+)?|(?:{_IS})\s+(?:es\s+)?(?:ich\s+|man\s+)?)", re.I
    ),
    references=(
        re.compile(rf"\b(?:{_THIS})\s+(?:\w+\s+)?{_TEXT}\b", re.I),
        re.compile(
            r"\b(?:laut|gemäß|nach|im|in\s+de[rm]|aus\s+dem|anhand\s+des|entsprechend)\s+(?:de[rmns]\s+|dem\s+)?"
            r"(?:Text|Satz|Abschnitt|Absatz|Artikel|Dokument|Kapitel|Auszug|Passage|Beitrag|Kontext)(?:e?s)?\b(?!-)",
            re.I,
        ),
        re.compile(rf"\b(?:oben|unten|hier|im\s+(?:Text|Abschnitt)|zuvor|vorher)\s+(?:{_SAID})\w*", re.I),
        re.compile(r"\b(?:in|siehe|laut)\s+(?:Abbildung|Abschnitt|Kapitel|Tabelle|Anhang|Listing)\s+\d", re.I),
        re.compile(r"\b(?:der|die|des)\s+(?:Autor|Verfasser|Sprecher)(?:s|in|en|innen)?\b", re.I),
        re.compile(r"\bin\s+diesem\s+(?:Fall|Beispiel|Zusammenhang|Szenario)\b", re.I),
    ),
    unnamed=(
        re.compile(
            rf"^(?:{_W})\s+(?:\w+\s+)?(?:{_IS}|\w+t)\s+(?:es|sie|er|dies\w*)\b(?!\s+(?:möglich|nötig|wichtig))", re.I
        ),
        re.compile(r"^(?:es|sie|er|dies\w*|jene\w*)\b", re.I),
        re.compile(
            rf"^(?:{_W})\b[^,.;?]{{0,60}}\b(?:von|in|für|bei|mit|zu|aus)\s+(?:diese[rmn]|jene[rmn])\s+\w+", re.I
        ),
    ),
    leans=_leans,
    articles=frozenset("der die das den dem des ein eine einen einem einer eines".split()),  # noqa: SIM905
    open_end=re.compile(
        r"\b(?:und|oder|der|die|das|den|dem|des|eine?[nmrs]?|von|zu|in|im|für|mit|bei|auf|aus|an|durch|als|dass|ist"
        r"|sind|wird|werden)$",
        re.I,
    ),
    joins="und|oder|sowie|bzw\\.|beziehungsweise|noch",
    lists="wie|z\\. ?B\\.|zum Beispiel|beispielsweise|etwa|darunter|einschließlich",
    negation=re.compile(r"\b(?:nicht|kein\w*|nie|niemals|weder|ohne|niemand|nichts)\b", re.I),
    denial=re.compile(
        r"\b(?:nicht|kein\w*|nie|niemals|ohne|nur|wenig\w*|gering\w*|niedrig\w*|kaum|verringer\w*|reduzier\w*)\b"
    ),
    catch_all=re.compile(
        r"\b(?:alle|keine|nichts|beide|jede|einige)[rsnm]?\s+(?:(?:der|von|den|die)\s+)?(?:oben|oberen|obigen|genannten"
        r"|vorstehenden|aufgeführten|anderen|antworten|möglichkeiten|diesen|davon)\b|^(?:alle|keine[rs]?|beide)\.?$"
        r"|\b(?:sowohl|weder)\s+\(?[A-D]\)?\s+(?:als|noch)\b|\bnicht\s+(?:bestimmbar|angegeben|genannt|erwähnt)\b"
        r"|^\(?[A-D]\)?\s+(?:und|&)\s+\(?[A-D]\)?\.?$",
        re.I,
    ),
    marked=re.compile(
        r"\b(?:richtige|falsche|korrekte)\s+(?:antwort|möglichkeit)\b|\((?:richtig|falsch|korrekt)\)"
        r"|\b(?:erklärung|begründung|antwort|lösung)\s*:",
        re.I,
    ),
    evades=re.compile(
        r"\b(?:falsch\w*|richtig\w*|irrelevant\w*|aussage|antwort\w*|frage|satz|keine\w* (?:der|davon)|unbekannt"
        r"|nicht (?:relevant|zutreffend|bekannt|angegeben))\b",
        re.I,
    ),
    units="Prozent|Millionen?|Milliarden?|Tausend|Bytes?|Bits?|KB|MB|GB|TB|KiB|MiB|GiB|kg|g|mg|km|cm|mm|m|Sekunden?"
    "|Minuten?"
    "|Stunden?|Tagen?|Tage|Wochen?|Monaten?|Monate|Jahren?|Jahre|Zeichen|Punkte?n?|Mal|Menschen|Grad|Euro|€",
    months="Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember",
    phrases=_phrases,
    names_thing=_names_thing,
    nouns_are_capitalised=True,
    adjectives_follow_articles=True,
)
"""What is known of German, of which the tagger tells the parts of speech."""
