"""What the rules know of French.

The verbs are those of a published list (Nell et Associés, "Les verbes de la taxonomie de Bloom"),
where a question uses them, and the French words for the computing verbs of the English list. The wordings are ours.
"""

from __future__ import annotations

import re

from taxonomy._question_wording import QuestionWording

FRENCH_WORDING = QuestionWording(
    code="fr",
    verbs={
        level: frozenset(words.split())
        for level, words in {
            "remember": """définir identifier reconnaître réciter mémoriser citer indiquer énumérer lister
                nommer étiqueter
                localiser rappeler mentionner répéter""",
            "understand": """expliquer décrire résumer interpréter classer paraphraser prédire traduire
                illustrer discuter
                reformuler clarifier comprendre signifier""",
            "apply": """appliquer utiliser employer exécuter calculer résoudre démontrer montrer illustrer implémenter
                configurer pratiquer écrire régler""",
            "analyze": """analyser comparer distinguer différencier contraster examiner tester inspecter décomposer
                enquêter optimiser dépanner""",
            "evaluate": """évaluer juger justifier critiquer décider choisir mesurer valider vérifier recommander tester
                surveiller estimer""",
            "create": """créer concevoir construire produire inventer élaborer formuler développer composer générer
                assembler implémenter planifier personnaliser""",
        }.items()
    },
    spellings={
        form: verb
        for verb, forms in {
            "reconnaître": "reconnaît reconnaissez reconnu",
            "définir": "définit définissez définissent défini",
            "décrire": "décrit décrivez décrivent décrite décrits",
            "prédire": "prédit prédisez",
            "traduire": "traduit traduisez traduisent",
            "comprendre": "comprend comprenez compris",
            "résoudre": "résout résolvez résolu résolvent",
            "écrire": "écrivez",
            "choisir": "choisit choisissez choisi choisissent choisiriez choisirait",
            "concevoir": "concevez conçoit conçu conçue conçus conçoivent",
            "construire": "construit construisez construisent",
            "produire": "produit produisez produisent",
            "créer": "crée créez crée-t-on créé créée créés",
        }.items()
        for form in forms.split()
    },
    endings=(("(?:es?|ez|ent|ons)$", "er"),),
    noun_endings="tions?|ments?|eurs?|euses?",
    before_nouns=frozenset(
        """le la les l' un une des du de d' ce cet cette ces son sa ses leur leurs votre vos quel quelle quels en
        au aux""".split()  # noqa: SIM905
    ),
    often_nouns=frozenset(
        """liste cite classe montre compare mesure critique analyse juge emploi écrit indique teste calcule
            produit règle
        pratique""".split()  # noqa: SIM905
    ),
    clauses=(
        ("understand", r"\b(?:pourquoi|raisons?|causes?|parce que|car)\b"),
        ("understand", r"\bcomment (?:fonctionne|est|sont|était|agit|se)\b"),
        ("evaluate", r"\b(?:meilleure?s?|le mieux|le plus|la plus|pire|appropriée?s?|adaptée?s?|devriez|devrait)\b"),
        ("analyze", r"\b(?:différences?|diffère\w*|relation|lien entre|contrairement|par rapport)\b"),
        (
            "apply",
            r"\bcomment (?:peut|pouvez|pourrait|pourriez|faut|doit|devez)\b|\bcomment [a-zéè]+er\b"
            r"|\b(?:devez-vous|faut-il|doit-on)\b|\b(?:pour|afin de) \w+(?:er|ir|re)\b",
        ),
    ),
    knowledge=(
        ("metacognitive", r"\bvotre propre (?:connaissance|compréhension|pensée|apprentissage|raisonnement|mémoire)\b"),
        ("metacognitive", r"\b(?:êtes-vous|es-tu) (?:sûre?|certaine?)\b|\bstratégies? d['’]apprentissage\b"),
        ("factual", r"\bcombien\b|\b(?:quelle|à quelle) (?:taille|distance|vitesse|fréquence|durée|quantité)\b"),
        ("factual", r"\bquel(?:le)?s? (?:année|date|jour|mois|nombre|pourcentage|nom|terme|mot|version|valeur)s?\b"),
        ("factual", r"^\W*(?:quand|qui|à qui|par qui|de qui|où|d['’]où)\b"),
        ("procedural", r"\bcomment (?:peut|pouvez|pourrait|pourriez|faut|doit|devez|\w+iez|\w+er\b|\w+-t-on)"),
        ("procedural", r"\b(?:étapes?|procédures?|algorithmes?|techniques?|méthodes?|instructions)\b"),
        ("procedural", r"\bquel(?:le)?s? (?:commande|fonction|option|réglage|outil|opération|action|programme)s?\b"),
        ("procedural", r"\b(?:devez|devriez|doit|faut|voulez|souhaitez)\b"),
        (
            "procedural",
            r"\b(?:pour|afin de|afin d['’]) ?\w+(?:er|ir|re)\b|^\W*(?:calculez|concevez|créez|implémentez)\b",
        ),
        ("conceptual", r"\b(?:pourquoi|parce que|causes?|raisons?|conséquences?|effets? d|entraîne|impact)"),
        ("conceptual", r"\b(?:but|rôle|fonction|avantages?|inconvénients?|principes?|concepts?|notion) d"),
        (
            "conceptual",
            r"\b(?:différences?|diffère\w*|distingue\w*|compare\w*|relation|lien|similaires?|contrairement)\b",
        ),
        ("conceptual", r"\b(?:types?|sortes?|catégories?|classes?|structures?|modèles?|théories?) d"),
        ("conceptual", r"\b(?:comment|décri\w+|expliqu\w+|signifi\w+|caractéris\w+|dépend\w*|repose)\b"),
    ),
    question_words={
        "what": r"qu['’]est-ce qu(?:[ie]|(?=['’]))|quoi|(?:\A|(?<=[.!?:,] ))(?:que|qu(?=['’]))",
        "which": "(?:du|au|des|aux|les?|la)?quel(?:le)?s?",
        "how": "comment|combien",
        "why": "pourquoi",
        "when": "quand",
        "where": "d['’]où|où",
        "who": r"qui est-ce qui|(?:\A|(?<=[.!?:] )|(?<=\b[àÀ] )|(?<=\bpar )|(?<=\bde ))qui",
    },
    auxiliaries=r"est-ce\b|(?:a|ont|est|sont|était|étaient|fut|peut|peuvent|pouvez|doit|doivent|devez|faut|avez|existe)\b|"
    r"y a-t-il\b|"
    r"(?!.*\b(?:quel\w*|qui|quoi|que|où|quand|comment|combien|pourquoi)\b)[^?]*\b\w+-(?:t-)?(?:ils?|elles?)\b",
    prepositions="dans|en|à|au|de|par|pour|avec|sur|sous|depuis|vers|chez|selon|contre",
    joining="et|puis|alors|ou",
    quotes="«»„",
    closing="»\u00a0\u202f",
    word_pattern=re.compile(r"[^\W\d_]+['’]?"),
)
