"""Pictures of papers' own objects: functions that return matplotlib figures without showing them."""

from reluscope_studies.pictures.boolean_direction import boolean_direction

__all__ = ["boolean_direction"]
