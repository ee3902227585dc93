"""`nws keysentences`: keywords and key sentences of Korean texts."""
