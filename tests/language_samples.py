"""A paragraph of plain prose in each of some languages, written for the tests."""

SAMPLES = {
    "en": "The harbour master opens the gate every morning before the first ships come in. He writes the names of the "
    "ships into a book and counts the crates that they carry.",
    "de": "Der Hafenmeister öffnet jeden Morgen das Tor, bevor die ersten Schiffe einlaufen. Er trägt die Namen der "
    "Schiffe in ein Buch ein und zählt die Kisten, die sie geladen haben.",
    "fr": "Le capitaine du port ouvre la porte chaque matin avant l'arrivée des premiers navires. Il note les noms des "
    "navires dans un livre et compte les caisses qu'ils transportent.",
    "es": "El capitán del puerto abre la puerta cada mañana antes de que lleguen los primeros barcos. Escribe los "
    "nombres de los barcos en un libro y cuenta las cajas que llevan.",
    "ja": "港長は毎朝、最初の船が入る前に門を開けます。船の名前を帳簿に書き、運ばれてきた箱の数を数えます。",
    "zh": "港务长每天早上在第一批船进港之前打开大门。他把船名写进一本册子，并清点船上装载的箱子。",
    "it": "Il capitano del porto apre il cancello ogni mattina prima che arrivino le prime navi. Scrive i nomi delle "
    "navi in un libro e conta le casse che trasportano.",
    "ru": "Начальник порта каждое утро открывает ворота до прихода первых кораблей. Он записывает названия кораблей в "
    "книгу и считает ящики, которые они везут.",
}
