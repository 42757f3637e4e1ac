"""Commands of papers' own objects, which ``reluscope`` finds by entry points of the group ``reluscope.commands``."""
