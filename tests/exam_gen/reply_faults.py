"""Every way in which a reply can be no question."""

KINDS = {
    *("empty reply", "no question", "no choices", "too few choices", "empty choice", "duplicate choices", "no answer"),
    *("answer names no choice", "several answers", "contradictory answers", "malformed JSON"),
}
