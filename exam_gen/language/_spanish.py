"""Spanish: prompts, and the words by which rules read Spanish texts. The word lists are ours."""

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
    version="es-1",
    topic="Tema:",
    sentence="Frase:",
    question="Pregunta:",
    answer="Respuesta:",
    statement="Afirmación:",
    gap="El hueco:",
    exam_question="Pregunta de examen:",
    plain_words="Con palabras sencillas:",
    right_answer="Respuesta correcta:",
    wrong_answers="Respuestas falsas:",
    proposed_answer="Respuesta propuesta:",
    reply="Respuesta:",
    yes="Sí",
    no="No",
    question_system="Escribes preguntas de examen a partir de hechos sueltos. Una pregunta nombra su tema por "
    "completo, conserva las condiciones de la frase, se entiende sin ella y no contiene la respuesta. La respuesta son "
    "unas pocas palabras copiadas de la frase.",
    crossing="La frase está en otro idioma; la pregunta y la respuesta están en español.",
    gap_system="Conviertes afirmaciones con un hueco en preguntas. La pregunta pide lo que llena el hueco, no lo "
    "contiene, nombra su tema por completo y se entiende sin la afirmación.",
    wording_system="Dices preguntas de examen con palabras sencillas de todos los días, como las haría una persona que "
    "necesita la misma respuesta. La cosa por la que se pregunta conserva su nombre; todas las demás palabras cambian.",
    wrong_system="Escribes respuestas falsas para preguntas de examen. Cada una es falsa, creíble para quien no conoce "
    "el hecho, y tiene la forma y la longitud de la respuesta correcta.",
    search_request="Una persona buscaba algo y la enviaron a este texto, que la ayudó. Con sus propias palabras de "
    "todos los días, y no con las del texto, ¿cuál era su pregunta? Responde en español con una pregunta corta.",
    open_request="Responde con unas pocas palabras copiadas del texto.",
    answerable_request="¿Responde el texto a esta pregunta? Responde Sí o No.",
    judgment_request="¿Es esta respuesta correcta y completa según el texto? Responde Sí o No.",
    about="Escribe una frase en español sobre {title}.",
    closed_request="Responde en español con unas pocas palabras.",
    completion="{title}: ¿qué respuesta completa la afirmación «{statement}»?",
    question_examples=(
        (
            "Motores de inducción",
            "Un motor de inducción consume seis veces su corriente nominal al arrancar.",
            "¿Cuánta corriente consume un motor de inducción al arrancar?",
            "seis veces su corriente nominal",
        ),
        (
            "tar",
            "Si se omite la opción, tar escribe el archivo en la salida estándar.",
            "¿Dónde escribe tar el archivo si se omite la opción?",
            "en la salida estándar",
        ),
        (
            "las abejas en invierno",
            "La colonia sobrevive al frío porque las obreras forman un racimo alrededor de la reina.",
            "¿Qué forman las obreras de una colonia de abejas para sobrevivir al frío?",
            "un racimo alrededor de la reina",
        ),
    ),
    gap_examples=(
        (
            "Invernada de las abejas",
            f"La colonia sobrevive al frío porque {GAP} forman un racimo alrededor de la reina.",
            "las obreras",
            "¿Qué abejas forman un racimo alrededor de la reina cuando hace frío?",
        ),
        (
            "Escorbuto",
            f"En 1747 un ensayo a bordo de un barco mostró que {GAP} curan el escorbuto.",
            "los cítricos",
            "¿Qué frutas curaban el escorbuto en el ensayo de 1747 a bordo de un barco?",
        ),
        (
            "Alquileres en Ontario",
            f"Un inquilino que se va sin preaviso debe {GAP} de alquiler.",
            "dos meses",
            "¿Cuánto alquiler debe en Ontario un inquilino que se va sin preaviso?",
        ),
        (
            "Motores de inducción",
            f"Un motor de inducción consume {GAP} al arrancar.",
            "seis veces su corriente nominal",
            "¿Cuánta corriente consume un motor de inducción al arrancar?",
        ),
        (
            "tar",
            f"Si se omite la opción -f, tar escribe el archivo en {GAP}.",
            "la salida estándar",
            "¿Dónde escribe tar el archivo si se omite la opción -f?",
        ),
    ),
    wording_examples=(
        (
            "¿Cuánta corriente consume un motor de inducción al arrancar?",
            "¿cuántos amperios chupa un motor trifásico cuando se enciende?",
        ),
        ("¿Dónde escribe tar el archivo si se omite la opción -f?", "tar sin nombre de fichero, ¿adónde va a parar?"),
        (
            "¿Qué forman las obreras de una colonia de abejas para sobrevivir al frío?",
            "¿cómo se mantienen calientes las abejas en invierno?",
        ),
        ("¿Qué carencia de vitamina causa el escorbuto?", "¿qué le falta en la comida a quien tiene escorbuto?"),
        (
            "¿Cuál es el plazo mínimo de preaviso para rescindir un alquiler en Ontario?",
            "¿con cuánta antelación tiene que avisar un inquilino en Ontario de que se muda?",
        ),
        ("¿Quién registró el descenso de los gorriones en Londres?", "¿quién notó que en Londres hay menos gorriones?"),
        (
            "¿Por qué los pacientes mayores reciben dosis más bajas de digoxina?",
            "¿por qué la gente mayor debe tomar menos digoxina?",
        ),
    ),
    wrong_examples=(
        (
            "¿Cuánta corriente consume un motor de inducción al arrancar?",
            "seis veces su corriente nominal",
            "la mitad de su corriente nominal; diez veces su corriente en vacío; el doble de su corriente de frenado; "
            "exactamente su corriente nominal",
        ),
        (
            "¿Qué forman las obreras de una colonia de abejas para sobrevivir al frío?",
            "un racimo alrededor de la reina",
            "un muro en la entrada; una cadena entre los panales; un anillo bajo la miel; una capa sobre la cría",
        ),
    ),
)

_TEXT = r"(?:texto|frase|oración|pasaje|párrafo|artículo|documento|capítulo|sección|extracto|enunciado|afirmación|tabla"
_TEXT += r"|figura|ejemplo|contexto|documentación|manual|lista|código)(?:e?s)?"
_THIS = r"est[eao]s?|es[eao]s?|dich[oa]s?|siguientes?|anterior(?:es)?|mencionad[oa]s?"
_Q = r"qué|quién(?:es)?|cuál(?:es)?|dónde|adónde|cuándo|por\s+qué|cómo|cuánt[oa]s?"
_IS = r"es|son|era|eran|está|están|puede|pueden|debe|deben|hace|hacen|ha|han|hay|será"
_EMPTY = frozenset(
    """ejemplo ejemplos caso casos cosa cosas forma manera tipo tipos clase veces tiempo punto puntos hecho parte partes
    número nombre nombres palabra palabras valor resultado problema razón pregunta respuesta texto sección capítulo
    tabla conjunto serie lista usuario usuarios posibilidad nuevo nueva nuevos nuevas gran grandes pequeño pequeña otro
    otra otros otras mismo misma mismos mismas primer primera primeros última último últimos única único mayor menor
    mejor antigua antiguo mayoría diferentes distintos varios varias tres cuatro siguiente siguientes""".split()  # noqa: SIM905
)

SPANISH_MODULE = ExamLanguage(
    code="es",
    prompts=_PROMPTS,
    question_word=re.compile(rf"(?<!\w)(?:{_Q})(?!\w)", re.I),
    yes_no=re.compile(rf"^¿?(?:{_IS}|se\s+puede|existe|existen|tiene|tienen)\b", re.I),
    first_person=re.compile(r"\b(?:yo|nosotr[oa]s|nos|nuestr[oa]s?|mi|mis|me|tú|tu|tus|te|usted(?:es)?)\b", re.I),
    mentions_text=re.compile(
        rf"\b(?:{_THIS}) {_TEXT}\b|\b(?:el|la|del) (?:texto|frase|oración|pasaje|párrafo|extracto|enunciado)\b"
        rf"|\bmencionad[oa]s?\b|{GAP}",
        re.I,
    ),
    open_ended=re.compile(
        r"\b(?:da|dé|nombra|nombre|cita|cite) una? |\bcuál(?:es)? (?:es|son) (?:un ejemplo|un[oa] de|algun[oa]s)"
        r"|\bcuál es (?:la|el) (?:importancia|principal\w*|objetivo principal)",
        re.I,
    ),
    asks=re.compile(rf"^¿?\s*(?:{_Q}|(?:{_IS}))\s+(?:(?:{_IS}|puedo|se)\s+)?", re.I),
    references=(
        re.compile(rf"\b(?:{_THIS})\s+(?:\w+\s+)?{_TEXT}\b", re.I),
        re.compile(
            r"\b(?:según|en|de\s+acuerdo\s+con)\s+(?:el|la|los|las)\s+(?:texto|frase|oración|pasaje|párrafo|artículo"
            r"|documento|capítulo|sección|extracto|enunciado|contexto|documentación)\b",
            re.I,
        ),
        re.compile(
            r"\b(?:mencionad|descrit|citad|indicad|mostrad)[oa]s?\s+(?:arriba|abajo|anteriormente|en\s+el\s+texto)\b",
            re.I,
        ),
        re.compile(r"\b(?:figura|sección|capítulo|tabla|apéndice)\s+\d", re.I),
        re.compile(r"\b(?:el|la|los|las)\s+autor(?:a|es|as)?\b|\ben\s+este\s+(?:caso|ejemplo|contexto)\b", re.I),
    ),
    unnamed=(
        re.compile(rf"^¿?(?:{_Q})\s+(?:\w+\s+)?(?:{_IS}|\w+)\s+(?:est[eoa]s?|es[oa]s?|ell[oa]s?|él|ella)\s*\?", re.I),
        re.compile(r"^¿?(?:esto|eso|ello|él|ella|ellos|ellas)\b", re.I),
        re.compile(rf"^¿?(?:{_Q})\b[^,.;?]{{0,60}}\b(?:de|en|para|por|con|a)\s+(?:est[eoa]s?|es[eoa]s?)\s+\w+", re.I),
    ),
    leans=leaning_on(
        r"esto|est[ea]s?|eso|es[ea]s?|aquell?[oa]s?|él|ella|ellos|ellas|aquí|ahí|allí|entonces|luego|así|también|además"
        r"|sin embargo|no obstante|por (?:lo )?tanto|por eso|por ejemplo|en particular|de lo contrario|después"
        r"|finalmente|primero|y|o|pero|porque|nota|atención|aviso|consejo|advertencia|sugerencia|véase|vea|consulte|su"
        r"|sus|otros|otras|algun[oa]s|muchos|muchas|varios|varias|ambos|ambas|el primero|el segundo|el último"
        r"|la primera|lo mismo|en este caso|si (?:usted|quiere|desea|necesita|no)|puede|debe|debería|usted|nosotros|sí"
        r"|no|ejecute|utilice|use|instale|haga|compruebe|tenga|es|son|hay|se",
        r"véase|vea|consulte|sección|capítulo|figura|tabla|apéndice|arriba|abajo|siguientes?|anterior(?:es)?|est[ea]s?"
        r"|esto|es[ea]s?|eso|aquí|nosotros|nuestr[oa]s?|usted|yo|mi|mis|mencionad[oa]s?|descrit[oa]s?|pulse|ejemplo"
        r"|también|además|ambos|ambas|dich[oa]s?|por lo tanto|sin embargo|puede usted",
    ),
    articles=frozenset("el la los las un una unos unas lo".split()),  # noqa: SIM905
    open_end=re.compile(r"\b(?:y|e|o|u|el|la|los|las|un|una|de|del|a|al|en|para|con|por|sobre|que|es|son|se)$", re.I),
    joins="y|e|o|u|ni|así como",
    lists="como|tales? como|por ejemplo|incluid[oa]s?|entre ellos|entre ellas",
    negation=re.compile(r"\b(?:no|ni|nunca|jamás|sin|ning[uú]n\w*|nada|nadie)\b", re.I),
    denial=re.compile(
        r"\b(?:no|sin|nunca|ning[uú]n\w*|solo|sólo|solamente|poc[oa]s?|menos|menor|baj[oa]s?|limitad\w+|reduc\w+)\b"
    ),
    catch_all=re.compile(
        r"\b(?:tod[oa]s|ningun[oa]|ninguna|amb[oa]s|cualquiera)\s+(?:(?:de\s+)?(?:las|los|estas"
        r"|estos)\s+)?(?:respuestas|opciones|anteriores|mencionad\w+|demás|otr[oa]s)\b|^(?:tod[oa]s|ningun[oa]"
        r"|amb[oa]s)\.?$|\bni\s+\(?[A-D]\)?\s+ni\b|\bno\s+se\s+(?:puede\s+determinar|menciona|indica|especifica)\b"
        r"|^\(?[A-D]\)?\s+(?:y|&)\s+\(?[A-D]\)?\.?$",
        re.I,
    ),
    marked=re.compile(
        r"\b(?:respuesta|opción)\s+(?:correcta|incorrecta|falsa)\b|\((?:correct[oa]|incorrect[oa]|verdadero|falso)\)"
        r"|\b(?:explicación|justificación|respuesta)\s*:",
        re.I,
    ),
    evades=re.compile(
        r"\b(?:fals[oa]|incorrect[oa]|correct[oa]|afirmación|respuesta|pregunta|frase|opción|desconocid[oa]|ninguna de"
        r"|no (?:relacionad[oa]|relevante|mencionad[oa]))\b",
        re.I,
    ),
    units="por ciento|millones|millón|mil|bytes?|bits?|KB|MB|GB|TB|kg|g|mg|km|cm|mm|m|segundos?|minutos?|horas?"
    "|días?|semanas?"
    "|meses|mes|años?|caracteres|puntos?|veces|personas|grados?|euros?|€",
    months="enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre",
    phrases=phrases_after(
        r"(?:el|la|un|una|del|al)\s+",
        r"(?:los|las|unos|unas)\s+",
        r"\s+(?:de\s+las?\s+|de\s+los\s+|del\s+|de\s+)",
        _EMPTY,
    ),
    names_thing=names_by(r"que|quien|y|o|es|son|está|puede|debe|se|no|para|si|cuando|porque"),
)
"""What is known of Spanish, whose noun phrases are found by their articles."""
