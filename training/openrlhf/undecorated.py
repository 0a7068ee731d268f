"""The class behind a Ray actor class: OpenRLHF's are decorated, and what is decorated cannot be subclassed."""

from __future__ import annotations

from operator import attrgetter

_PLAIN = attrgetter("__ray_metadata__.modified_class.__ray_actor_class__")


def undecorated(actor: object) -> type:
    """The class that was given to ``ray.remote``."""
    plain: type = _PLAIN(actor)
    return plain
