from exam_gen.corpora import take_inventory
from exam_gen.corpora._inventory import Size, words
from examcore import Chunk, Document


def test_words_are_counted_by_hand() -> None:
    documents = [
        Document("a", "", "The cat's x_1 is e.g. well-known; THE END.", topic="s3"),
        Document("b", "", "end of the end", topic="ecs"),
        Document("c", "", "…!", topic="s3"),
        Document("d", "", "naïve 東京", topic=""),
    ]
    chunks = [Chunk("a#0", "a", "The cat's x_1", 0, 13), Chunk("b#0", "b", "  end of ", 0, 9)]
    assert list(words(documents[0].text)) == ["the", "cat's", "x_1", "is", "e.g", "well-known", "the", "end"]
    found = take_inventory(documents, chunks, {"no text": 2})
    assert (found.documents, found.chunks, found.words, found.topics) == (4, 2, 14, 2)
    # the, cat's, x_1, is, e.g, well-known, end, of, naïve, 東京
    assert found.vocabulary == 10
    assert found.words_per_document == Size(3.5, 0, 8)
    assert found.words_per_chunk == Size(2.5, 2, 3)
    assert found.characters_per_chunk == Size(9.5, 6, 13)
    assert found.chunks_per_document == 0.5
    assert found.documents_by_topic == {"s3": 2, "ecs": 1}
    assert found.left_out == {"no text": 2}
    plain = found.as_dict()
    assert plain["words_per_chunk"] == {"mean": 2.5, "least": 2, "most": 3}


def test_nothing_is_counted_as_nothing() -> None:
    found = take_inventory([], [])
    assert (found.documents, found.words, found.words_per_document, found.chunks_per_document) == (
        0,
        0,
        Size(0, 0, 0),
        0,
    )
