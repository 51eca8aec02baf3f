"""What the rules know of German.

The verbs are those of two published tables (HSHL wiki, "Taxonomiestufen nach Bloom"; lehrendlernen.ch),
where a question uses them, and the German words for the computing verbs of the English list. The wordings are ours.
"""

from __future__ import annotations

from taxonomy._question_wording import QuestionWording

GERMAN_WORDING = QuestionWording(
    code="de",
    verbs={
        level: frozenset(words.split())
        for level, words in {
            "remember": """nennen benennen aufzählen zählen auflisten listen definieren angeben wiederholen wiedergeben
                erinnern erwähnen bezeichnen""",
            "understand": """erklären erläutern beschreiben zusammenfassen zusammen verstehen interpretieren übersetzen
                klassifizieren umschreiben verdeutlichen veranschaulichen vorhersagen darstellen bedeuten""",
            "apply": """anwenden wenden verwenden benutzen nutzen ausführen durchführen umsetzen lösen berechnen
                demonstrieren zeigen konfigurieren einstellen einrichten implementieren bedienen""",
            "analyze": """analysieren untersuchen vergleichen unterscheiden differenzieren gegenüberstellen gliedern
                zerlegen testen kontrastieren optimieren beheben""",
            "evaluate": """bewerten beurteilen einschätzen begründen rechtfertigen kritisieren entscheiden auswählen
                wählen abwägen prüfen überprüfen messen testen empfehlen überwachen validieren""",
            "create": """entwerfen entwickeln konstruieren erstellen erzeugen erschaffen gestalten formulieren verfassen
                erfinden zusammenstellen bauen aufbauen implementieren planen""",
        }.items()
    },
    spellings={
        form: verb
        for verb, forms in {
            "nennen": "genannt nannte",
            "benennen": "benannt",
            "aufzählen": "aufzuzählen",
            "auflisten": "aufzulisten",
            "angeben": "angegeben anzugeben",
            "beschreiben": "beschrieben",
            "verstehen": "verstanden",
            "anwenden": "angewandt angewendet anzuwenden",
            "ausführen": "auszuführen ausgeführt",
            "durchführen": "durchzuführen durchgeführt",
            "einstellen": "einzustellen eingestellt",
            "einrichten": "einzurichten eingerichtet",
            "umsetzen": "umzusetzen umgesetzt",
            "vergleichen": "verglichen",
            "unterscheiden": "unterschieden",
            "entscheiden": "entschieden",
            "messen": "misst gemessen",
            "empfehlen": "empfiehlt empfohlen",
            "entwerfen": "entworfen entwirft",
            "erfinden": "erfunden",
        }.items()
        for form in forms.split()
    },
    endings=(("e?t$", ""), ("e?te[nt]?$", "")),
    nouns_are_capitalised=True,
    clauses=(
        ("understand", r"\b(?:warum|wieso|weshalb|weil|gr(?:und|ünde)|ursachen?)\b"),
        ("understand", r"\bwie (?:funktionier|wirk|verh[aä]lt|arbeite|ist|sind|war|wird|werden)"),
        ("evaluate", r"\b(?:beste[nrsm]?|am besten|schlechteste\w*|(?:un)?geeignet\w*|angemessen\w*|sollte\w*)\b"),
        ("analyze", r"\b(?:unterschiede?n?|zusammenhang|zusammenhänge|beziehung|im gegensatz|im vergleich)\b"),
        ("apply", r"\bwie (?:kann|können|könnte\w*|lässt|lassen|soll\w*|muss|müssen)\b|\bum\b[^,.?]{1,80}\bzu \w+n\b"),
    ),
    knowledge=(
        (
            "metacognitive",
            r"\b(?:ihr|dein|euer)e?[smnr]? eigene\w* (?:wissen|verständnis|denken|lernen|gedächtnis|stärken)\b",
        ),
        ("metacognitive", r"\bwie sicher (?:sind sie|bist du)\b|\blernstrategien?\b"),
        ("factual", r"\bwie (?:viele?n?|vielen|lange|oft|alt|weit|schnell|groß|hoch|tief|breit|häufig)\b"),
        ("factual", r"\bwelche[nmrs]? (?:jahr|datum|tag|monat|zahl|anteil|name|begriff|wort|version|wert)\w*\b"),
        ("factual", r"^\W*(?:wann|wer|wem|wen|wessen|von wem|wo|wohin|woher)\b"),
        ("procedural", r"\bwie (?:kann|können|könnte\w*|lässt|lassen|soll\w*|muss|müssen|würde\w*|\w+t man)\b"),
        ("procedural", r"\b(?:schritte?n?|verfahren\w*|algorithm\w+|techniken?|methoden?|anleitung\w*|vorgehen)\b"),
        (
            "procedural",
            r"\bwelche[nmrs]? (?:befehl|funktion|option|einstellung|werkzeug|operation|aktion|programm)\w*\b",
        ),
        (
            "procedural",
            r"\b(?:muss|müssen|sollte\w*) (?:sie|man|du|der nutzer|der benutzer)\b|\b(?:sie|du) (?:möchte|wolle"
            r"|willst)",
        ),
        ("procedural", r"\bum\b[^,.?]{1,80}\bzu \w+n\b|^\W*(?:berechne|entw[ei]rf|erstelle|implementiere)"),
        ("conceptual", r"\b(?:warum|wieso|weshalb|wozu|weil|gr(?:und|ünde)|ursachen?|folgen?|auswirkung\w*|führt)\b"),
        ("conceptual", r"\b(?:zwecks?|aufgabe|rolle|vorteile?n?|nachteile?n?|prinzip\w*|grundsätze?n?|konzepte?n?)\b"),
        (
            "conceptual",
            r"\b(?:unterschied\w*|unterscheide\w*|vergleich\w*|ähnlich\w*|zusammenh[aä]ng\w*|beziehung\w*)\b",
        ),
        ("conceptual", r"\b(?:arten?|typen|kategorien?|klassen?|struktur\w*|modelle?|theorien?) (?:von|der|des)\b"),
        ("conceptual", r"\b(?:wie|beschreib\w*|erklär\w*|bedeute\w*|kennzeichne\w*|hängt|beruht)\b"),
    ),
    question_words={
        "what": "was|wofür|wodurch|womit|woran|worin|woraus|worauf|wovon|worüber|wobei|wogegen",
        "which": "welch(?:e[nmrs]?)?",
        "how": "wie|wieviele?",
        "why": "warum|wieso|weshalb|weswegen|wozu",
        "when": "wann",
        "where": "wo|wohin|woher",
        "who": "wer|wem|wen|wessen",
    },
    auxiliaries=r"(?:ist|sind|war|waren|wird|werden|wurde|wurden|hat|haben|hatte|kann|können|könnte|darf|dürfen|muss|müssen|"
    r"soll|sollte|sollten|will|gibt|lässt|stimmt|trifft|gilt|braucht|benötigt)\b",
    prepositions="in|an|auf|bei|durch|für|zu|von|mit|aus|nach|seit|unter|über|gegen|ab|bis",
    joining="und|dann|also",
    quotes="„«»‚",
    closing="“»«",
)
