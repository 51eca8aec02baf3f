"""French: prompts, and the words by which rules read French texts. The word lists are ours."""

from __future__ import annotations

import re

from exam_gen.language._exam_language import (
    GAP,
    ExamLanguage,
    WriterPrompts,
    leaning_on,
    names_by,
    phrases_after,
)

_PROMPTS = WriterPrompts(
    version="fr-1",
    topic="Sujet :",
    sentence="Phrase :",
    question="Question :",
    answer="Réponse :",
    statement="Affirmation :",
    gap="Le blanc :",
    exam_question="Question d'examen :",
    plain_words="En mots simples :",
    right_answer="Bonne réponse :",
    wrong_answers="Mauvaises réponses :",
    proposed_answer="Réponse proposée :",
    reply="Réponse :",
    yes="Oui",
    no="Non",
    question_system="Tu écris des questions d'examen à partir de faits isolés. Une question nomme son sujet en entier, "
    "garde les conditions de la phrase, se comprend sans elle et ne contient pas la réponse. La réponse est faite de "
    "quelques mots copiés de la phrase.",
    crossing="La phrase est dans une autre langue ; la question et la réponse sont en français.",
    gap_system="Tu transformes des affirmations à trou en questions. La question demande ce qui remplit le blanc, ne "
    "le contient pas, nomme son sujet en entier et se comprend sans l'affirmation.",
    wording_system="Tu dis des questions d'examen avec des mots simples de tous les jours, comme les poserait une "
    "personne qui a besoin de la même réponse. La chose dont il s'agit garde son nom ; tous les autres mots changent.",
    wrong_system="Tu écris de mauvaises réponses à des questions d'examen. Chacune est fausse, crédible pour qui ne "
    "connaît pas le fait, et a la forme et la longueur de la bonne réponse.",
    search_request="Une personne cherchait quelque chose et a été envoyée à ce texte, qui l'a aidée. Avec ses propres "
    "mots de tous les jours, et non ceux du texte, quelle était sa question ? Réponds en français par une courte "
    "question.",
    open_request="Réponds en quelques mots copiés du texte.",
    answerable_request="Le texte répond-il à cette question ? Réponds par Oui ou Non.",
    judgment_request="Cette réponse est-elle correcte et complète selon le texte ? Réponds par Oui ou Non.",
    about="Écris une phrase en français sur {title}.",
    closed_request="Réponds en français en quelques mots.",
    completion="{title} : quelle réponse complète l'affirmation « {statement} » ?",
    question_examples=(
        (
            "Moteurs asynchrones",
            "Un moteur asynchrone absorbe six fois son courant nominal au démarrage.",
            "Quel courant un moteur asynchrone absorbe-t-il au démarrage ?",
            "six fois son courant nominal",
        ),
        (
            "tar",
            "Si l'option est omise, tar écrit l'archive sur la sortie standard.",
            "Où tar écrit-il l'archive si l'option est omise ?",
            "sur la sortie standard",
        ),
        (
            "les abeilles en hiver",
            "La colonie survit au froid parce que les ouvrières forment une grappe autour de la reine.",
            "Que forment les ouvrières d'une colonie d'abeilles pour survivre au froid ?",
            "une grappe autour de la reine",
        ),
    ),
    gap_examples=(
        (
            "Hivernage des abeilles",
            f"La colonie survit au froid parce que {GAP} forment une grappe autour de la reine.",
            "les ouvrières",
            "Quelles abeilles forment une grappe autour de la reine quand il fait froid ?",
        ),
        (
            "Scorbut",
            f"En 1747, un essai à bord d'un navire montra que {GAP} guérissent le scorbut.",
            "les agrumes",
            "Quels fruits guérissaient le scorbut dans l'essai de 1747 à bord d'un navire ?",
        ),
        (
            "Baux en Ontario",
            f"Un locataire qui part sans préavis doit {GAP} de loyer.",
            "deux mois",
            "Combien de loyer doit en Ontario un locataire qui part sans préavis ?",
        ),
        (
            "Moteurs asynchrones",
            f"Un moteur asynchrone absorbe {GAP} au démarrage.",
            "six fois son courant nominal",
            "Quel courant un moteur asynchrone absorbe-t-il au démarrage ?",
        ),
        (
            "tar",
            f"Si l'option -f est omise, tar écrit l'archive sur {GAP}.",
            "la sortie standard",
            "Où tar écrit-il l'archive si l'option -f est omise ?",
        ),
    ),
    wording_examples=(
        (
            "Quel courant un moteur asynchrone absorbe-t-il au démarrage ?",
            "combien d'ampères tire un moteur triphasé quand on l'allume ?",
        ),
        ("Où tar écrit-il l'archive si l'option -f est omise ?", "tar sans nom de fichier, ça sort où ?"),
        (
            "Que forment les ouvrières d'une colonie d'abeilles pour survivre au froid ?",
            "comment les abeilles se tiennent-elles au chaud l'hiver ?",
        ),
        ("Quelle carence en vitamine cause le scorbut ?", "que manque-t-il à manger à quelqu'un qui a le scorbut ?"),
        (
            "Quel est le délai minimal de préavis pour résilier un bail en Ontario ?",
            "combien de temps avant un locataire en Ontario doit-il dire qu'il s'en va ?",
        ),
        ("Qui a relevé le déclin des moineaux à Londres ?", "qui a vu qu'il y a moins de moineaux à Londres ?"),
        (
            "Pourquoi les patients âgés reçoivent-ils des doses plus faibles de digoxine ?",
            "pourquoi les vieux doivent-ils prendre moins de digoxine ?",
        ),
    ),
    wrong_examples=(
        (
            "Quel courant un moteur asynchrone absorbe-t-il au démarrage ?",
            "six fois son courant nominal",
            "la moitié de son courant nominal; dix fois son courant à vide; deux fois son courant de freinage; "
            "exactement son courant nominal",
        ),
        (
            "Que forment les ouvrières d'une colonie d'abeilles pour survivre au froid ?",
            "une grappe autour de la reine",
            "un mur devant l'entrée; une chaîne entre les rayons; un anneau sous le miel; une couche sur le couvain",
        ),
    ),
)

_TEXT = (
    r"(?:texte|phrase|passage|paragraphe|article|document|chapitre|section|extrait|énoncé|affirmation|tableau|figure"
)
_TEXT += r"|exemple|contexte|documentation|manuel|liste|code)s?"
_Q = r"qu(?:e|i|oi)|quel(?:le)?s?|où|quand|pourquoi|comment|combien|lequel|laquelle|lesquel(?:le)?s"
_IS = r"est|sont|était|étaient|peut|peuvent|doit|doivent|fait|font|a|ont|sera|seront"
_EMPTY = frozenset(
    """exemple exemples cas chose choses façon manière sorte type types fois temps point points fait partie parties
    nombre nom noms mot mots valeur résultat problème raison question réponse texte section chapitre tableau ensemble
    série liste utilisateur utilisateurs possibilité nouveau nouvelle nouveaux nouvelles grand grande grands grandes
    petit petite petits petites autre autres même mêmes premier première premiers premières dernier dernière derniers
    dernières seul seule plus moins bon bonne meilleur meilleure ancien ancienne plupart différents différentes deux
    trois quatre plusieurs simple simples""".split()  # noqa: SIM905
)

FRENCH_MODULE = ExamLanguage(
    code="fr",
    prompts=_PROMPTS,
    question_word=re.compile(rf"(?<!\w)(?:{_Q}|qu['’])(?!\w)|\bqu['’]", re.I),
    yes_no=re.compile(
        rf"^(?:est-ce|(?:{_IS})-(?:t-)?(?:il|elle|on|ils|elles|ce)\b|(?:le|la|les|l['’]|un|une)\s*[\w ]{{2,40}}"
        rf"\b(?:{_IS})-(?:t-)?(?:il|elle|ils|elles)\b)",
        re.I,
    ),
    first_person=re.compile(r"\b(?:je|nous|notre|nos|mon|ma|mes|moi|tu|ton|ta|tes|toi|vous|votre|vos)\b|\bj['’]", re.I),
    mentions_text=re.compile(
        rf"\b(?:cet?|cette|ces) {_TEXT}\b|\b(?:le|du|la|l['’]) ?(?:texte|phrase|passage|paragraphe|extrait|énoncé)\b"
        rf"|\bmentionnée?s?\b|{GAP}",
        re.I,
    ),
    open_ended=re.compile(
        r"\b(?:donne[rz]?|cite[rz]?|nomme[rz]?) une? |\bquels? (?:est|sont) (?:une? exemple|un des|l['’]un des"
        r"|quelques)|\bquels? (?:est|sont) l['’]?(?:a |es |e )?(?:importance|principal\w*|but principal)",
        re.I,
    ),
    asks=re.compile(rf"^(?:{_Q}|qu['’])\s*(?:est-ce\s+qu['’e]\s*)?(?:(?:{_IS})\s+)?(?:(?:je|on|nous)\s+)?", re.I),
    references=(
        re.compile(rf"\b(?:cet?|cette|ces)\s+(?:\w+\s+)?{_TEXT}\b", re.I),
        re.compile(
            r"\b(?:selon|d['’]après|dans|suivant)\s+(?:le|la|l['’]|les)\s*(?:texte|phrase|passage|paragraphe|article"
            r"|document|chapitre|section|extrait|énoncé|contexte|documentation)\b",
            re.I,
        ),
        re.compile(
            r"\b(?:mentionné|décrit|cité|indiqué|présenté)e?s?\s+(?:ci-dessus|ci-dessous|plus haut|dans le texte)", re.I
        ),
        re.compile(r"\bci-(?:dessus|dessous)\b|\b(?:figure|section|chapitre|tableau|annexe)\s+\d", re.I),
        re.compile(r"\b(?:l['’]|les\s+)auteure?s?\b|\bdans\s+(?:ce\s+cas|cet\s+exemple|ce\s+contexte)\b", re.I),
    ),
    unnamed=(
        re.compile(rf"^(?:{_Q}|qu['’])\s*(?:\w+[\s-]+){{0,2}}?(?:{_IS}|\w+)-(?:t-)?(?:il|elle|ils|elles)\s*\?", re.I),
        re.compile(r"^(?:il|elle|ils|elles|ceci|cela|celui-ci|celle-ci)\b", re.I),
        re.compile(
            rf"^(?:{_Q}|qu['’])\b[^,.;?]{{0,60}}\b(?:de|dans|pour|par|avec|à)\s+(?:ce|cet|cette|ces)\s+\w+", re.I
        ),
    ),
    leans=leaning_on(
        r"il|elle|ils|elles|ce|cet|cette|ces|cela|ceci|c['’]est|celui|celle|ceux|celles|on|nous|je|vous|ici|là|alors"
        r"|donc|ainsi|aussi|également|cependant|toutefois|pourtant|néanmoins|sinon|ensuite|puis|enfin|d['’]abord"
        r"|en outre|de plus|par exemple|notamment|et|ou|mais|car|or|note|attention|astuce|avertissement|remarque|voir"
        r"|voyez|veuillez|son|sa|ses|leurs?|d['’]autres|certaine?s|plusieurs|quelques|les deux|le premier|le second"
        r"|la première|le dernier|en effet|de même|pour cela|dans ce cas|si vous|si c['’]est|\w+ez|\w{2,}(?:er|ir|dre"
        r"|tre)|oui|non",
        r"voir|voyez|section|chapitre|figure|tableau|annexe|ci-dessus|ci-dessous|suivante?s?|précédente?s?|cette?|ces"
        r"|ceci|cela|celui-ci|celle-ci|ceux-ci|nous|notre|nos|vous|votre|vos|je|mon|mes|mentionnée?s?|décrite?s?"
        r"|cliquez|exemple|également|aussi|donc|cependant|toutefois|dernière?s?|deux|l['’]autre",
    ),
    articles=frozenset("le la les l un une des du de d".split()),  # noqa: SIM905
    open_end=re.compile(
        r"\b(?:et|ou|le|la|les|un|une|des|du|de|à|au|aux|en|dans|pour|avec|par|sur|que|qui|est|sont)$|['’]$", re.I
    ),
    joins="et|ou|ni|ainsi que",
    lists="comme|tels? que|telles? que|par exemple|notamment|y compris",
    negation=re.compile(r"\b(?:ne|ni|sans|aucune?|jamais|rien|personne|non)\b|\bn['’]", re.I),
    denial=re.compile(
        r"\b(?:ne|pas|sans|aucune?|jamais|seulement|peu|moins|faibles?|limitée?s?|rédui\w+|diminu\w+)\b|\bn['’]"
    ),
    catch_all=re.compile(
        r"\b(?:tou(?:te)?s|aucune?|chacune?|les\s+deux|l[’']une?)\s+(?:(?:de\s+ces|des|de\s+ceux|les"
        r"|ces)\s+)?(?:réponses|options|choix|propositions|précédent\w*|ci-dessus|autres)\b|^(?:tou(?:te)?s|aucune?"
        r"|les\s+deux)\.?$|\bni\s+\(?[A-D]\)?\s*,?\s+ni\b|\bne\s+peut\s+(?:pas\s+)?être\s+déterminé|\bnon\s+(?:précisé"
        r"|mentionné|indiqué)|^\(?[A-D]\)?\s+(?:et|&)\s+\(?[A-D]\)?\.?$",
        re.I,
    ),
    marked=re.compile(
        r"\b(?:bonne|mauvaise)\s+(?:réponse|option)\b|\b(?:réponse|option)\s+(?:correcte|incorrecte|exacte)\b"
        r"|\((?:correcte?|incorrecte?|vrai|faux)\)|\b(?:explication|justification|réponse)\s*:",
        re.I,
    ),
    evades=re.compile(
        r"\b(?:fausse?|mauvaise|incorrecte?|correcte|affirmation|réponse|question|phrase|option|inconnue?|aucune de"
        r"|non (?:pertinente?|mentionnée?|précisée?))\b",
        re.I,
    ),
    units="pour cent|millions?|milliards?|mille|octets?|bits?|Ko|Mo|Go|To|KB|MB|GB|TB|kg|g|mg|km|cm|mm|m|secondes?"
    "|minutes?"
    "|heures?|jours?|semaines?|mois|ans?|années?|caractères?|points?|fois|personnes|degrés?|euros?|€",
    months="janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre",
    phrases=phrases_after(
        r"(?:le|la|un|une|du|au)\s+|l['’]",
        r"(?:les|des|aux)\s+",
        r"\s+(?:de\s+l['’]|de\s+la\s+|du\s+|des\s+|de\s+|d['’])",
        _EMPTY,
    ),
    names_thing=names_by(
        r"que|qui|qu['’]|et|ou|est|sont|peut|doit|il|elle|on|se|s['’]|ne|pas|afin|pour|si|lorsque|quand"
    ),
)
"""What is known of French, whose noun phrases are found by their articles."""
