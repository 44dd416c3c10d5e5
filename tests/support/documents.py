"""What is read of a document, for comparisons."""


def texts(document, *kinds):
    return [block.text for block in document.blocks if not kinds or block.kind in kinds]


def seen(document, kind):
    return [(notice.place, notice.detail) for notice in document.notices if notice.kind == kind]
