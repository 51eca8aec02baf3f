"""What the rules know of Spanish.

The verbs are those of a published table ("Taxonomía de Bloom (1956) revisada por Anderson (2001)"),
where a question uses them, and the Spanish words for the computing verbs of the English list. The wordings are ours.
"""

from __future__ import annotations

from taxonomy._question_wording import QuestionWording

SPANISH_WORDING = QuestionWording(
    code="es",
    verbs={
        level: frozenset(words.split())
        for level, words in {
            "remember": """definir listar enumerar rotular nombrar identificar repetir recordar reconocer citar
                mencionar
                indicar recoger""",
            "understand": """predecir asociar estimar explicar resumir describir interpretar discutir
                parafrasear traducir
                ilustrar reescribir aclarar comprender entender significar""",
            "apply": """aplicar completar ilustrar mostrar modificar usar utilizar emplear calcular resolver ejecutar
                demostrar implementar configurar practicar""",
            "analyze": """analizar separar comparar contrastar clasificar categorizar dividir inferir examinar
                distinguir
                diferenciar inspeccionar probar investigar optimizar""",
            "evaluate": """evaluar juzgar decidir valorar criticar justificar medir apoyar concluir seleccionar elegir
                escoger verificar comprobar validar recomendar probar supervisar""",
            "create": """crear diseñar combinar planificar inventar componer desarrollar construir producir
                formular generar
                elaborar implementar idear personalizar""",
        }.items()
    },
    spellings={
        form: verb
        for verb, forms in {
            "repetir": "repite repita",
            "recordar": "recuerda recuerde",
            "reconocer": "reconozca reconoces",
            "predecir": "predice predicen prediga",
            "traducir": "traduzca",
            "entender": "entiende entienda entienden",
            "mostrar": "muestra muestre muestran",
            "resolver": "resuelve resuelva resuelven",
            "demostrar": "demuestra demuestre",
            "aplicar": "aplique apliquen",
            "explicar": "explique expliquen",
            "identificar": "identifique identifiquen",
            "indicar": "indique indiquen",
            "clasificar": "clasifique clasifiquen",
            "analizar": "analice analicen",
            "utilizar": "utilice utilicen",
            "probar": "prueba pruebe prueban",
            "verificar": "verifique verifiquen",
            "justificar": "justifique justifiquen",
            "juzgar": "juzgue juzguen",
            "medir": "mide mida miden",
            "elegir": "elige elija eligen elegiría",
            "comprobar": "comprueba compruebe comprueban",
            "recomendar": "recomienda recomiende recomiendan",
            "construir": "construye construya construyen",
            "producir": "produce producen produzca",
            "componer": "compone componga",
        }.items()
        for form in forms.split()
    },
    endings=(("an?$", "ar"), ("en?$", "er"), ("en?$", "ir"), ("en?$", "ar")),
    noun_endings="ción|ciones|dor|dora|dores|doras|mientos?",
    before_nouns=frozenset(
        """el la los las lo un una unos unas de del al este esta estos estas ese esa su sus en qué cuál por
        sin""".split()  # noqa: SIM905
    ),
    often_nouns=frozenset(
        """lista cita nombre muestra uso prueba medida mide diseño producto plan apoyo estima crítica valor
            indica recuerdo
        práctica cálculo""".split()  # noqa: SIM905
    ),
    clauses=(
        ("understand", r"\b(?:por qué|razón|razones|causas?|porque|motivos?)\b"),
        ("understand", r"\bcómo (?:funciona\w*|es|son|era|está|actúa\w*|se (?!puede|podría|debe))"),
        ("evaluate", r"\b(?:mejor(?:es)?|peor(?:es)?|(?:el|la) más|adecuad[oa]s?|apropiad[oa]s?|debería\w*)\b"),
        ("analyze", r"\b(?:diferencias?|difieren?|relación|a diferencia|en contraste|frente a)\b"),
        (
            "apply",
            r"\bcómo (?:se )?(?:puede\w*|podría\w*|debe\w*|hay que|[a-zñ]+[aei]r)\b|\b(?:debe|hay que) hacer\b"
            r"|\bpara \w+[aei]r\b",
        ),
    ),
    knowledge=(
        ("metacognitive", r"\b(?:su|tu) propi[oa] (?:conocimiento|comprensión|pensamiento|aprendizaje|memoria)\b"),
        ("metacognitive", r"\b(?:seguro|segura) (?:está|estás)\b|\bestrategias? de aprendizaje\b"),
        ("factual", r"\bcu[áa]nt[oa]s?\b|\bcon qué frecuencia\b"),
        (
            "factual",
            r"\b(?:qué|cuál es el|cuál es la) (?:año|fecha|día|mes|número|porcentaje|nombre|término|versión|valor)\b",
        ),
        ("factual", r"^\W*(?:cuándo|quién|quiénes|por quién|de quién|a quién|dónde|de dónde)\b"),
        ("procedural", r"\bcómo (?:se )?(?:puede\w*|podría\w*|debe\w*|hay que|[a-zñ]+[aei]r(?:ía)?)\b"),
        ("procedural", r"\b(?:pasos?|procedimientos?|algoritmos?|técnicas?|métodos?|instrucciones)\b"),
        ("procedural", r"\bqué (?:comando|orden|función|opción|ajuste|herramienta|operación|acción|programa)\b"),
        ("procedural", r"\b(?:debe|debes|debería\w*|hay que|quiere|desea)\b"),
        ("procedural", r"\b(?:para|a fin de) \w+[aei]r\b|^\W*(?:calcul[ae]|diseñ[ae]|cre[ae]|implement[ae])\b"),
        ("conceptual", r"\b(?:por qué|porque|causas?|razón|razones|motivos?|consecuencias?|efectos? de|impacto)\b"),
        ("conceptual", r"\b(?:propósito|finalidad|papel|función|ventajas?|desventajas?|principios?|conceptos?) de"),
        ("conceptual", r"\b(?:diferencia\w*|difieren?|compar\w+|relación|similares?|distingue\w*|contraste)\b"),
        ("conceptual", r"\b(?:tipos?|clases?|categorías?|estructuras?|modelos?|teorías?) de"),
        ("conceptual", r"\b(?:cómo|describ\w+|explic\w+|significa\w*|caracteriz\w+|depende\w*|se basa)\b"),
    ),
    question_words={
        "why": "por qué",
        "what": "qué",
        "which": "cuál(?:es)?",
        "how": "cómo|cuánt[oa]s?",
        "when": "cuándo",
        "where": "dónde|adónde",
        "who": "quién(?:es)?",
    },
    auxiliaries=r"(?:es|son|era|eran|fue|fueron|está|están|hay|ha|han|puede|pueden|debe|deben|tiene|tienen|existe|existen|"
    r"se puede|se debe|sirve)\b",
    prepositions="en|a|de|por|para|con|sobre|desde|hasta|según|bajo|hacia|contra",
    joining="y|entonces|luego|o",
    opening="¿¡",
    quotes="«»„",
    closing="»",
)
