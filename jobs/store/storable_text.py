"""Text that every database can keep: without NUL, and without half of a surrogate pair."""


def is_storable(text: str) -> bool:
    """Whether every database can keep the text as it is."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def escaped(text: str) -> str:
    """`text` with characters that no database stores escaped. Errors may quote such bytes."""
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()
