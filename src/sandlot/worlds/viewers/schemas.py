"""JSON schemas of the messages for Foxglove: ``foxglove.SceneUpdate``, and numbers to plot."""

from typing import Any


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


NUMBER, TEXT, WHOLE, TRUTH = ({"type": kind} for kind in ("number", "string", "integer", "boolean"))
TIME = _object(sec=WHOLE, nsec=WHOLE)
VECTOR = _object(x=NUMBER, y=NUMBER, z=NUMBER)
POSE = _object(position=VECTOR, orientation=_object(x=NUMBER, y=NUMBER, z=NUMBER, w=NUMBER))
COLOUR = _object(r=NUMBER, g=NUMBER, b=NUMBER, a=NUMBER)
SOLID = _object(pose=POSE, size=VECTOR, color=COLOUR)
MESH = _object(pose=POSE, points=_list(VECTOR), color=COLOUR, colors=_list(COLOUR), indices=_list(WHOLE))
ENTITY = _object(
    timestamp=TIME,
    frame_id=TEXT,
    id=TEXT,
    lifetime=TIME,
    frame_locked=TRUTH,
    metadata=_list(_object(key=TEXT, value=TEXT)),
    arrows=_list(_object(pose=POSE, shaft_length=NUMBER)),
    cubes=_list(SOLID),
    spheres=_list(SOLID),
    cylinders=_list(_object(pose=POSE, size=VECTOR, bottom_scale=NUMBER, top_scale=NUMBER, color=COLOUR)),
    lines=_list(
        _object(
            type=WHOLE,
            pose=POSE,
            thickness=NUMBER,
            scale_invariant=TRUTH,
            points=_list(VECTOR),
            color=COLOUR,
            colors=_list(COLOUR),
            indices=_list(WHOLE),
        )
    ),
    triangles=_list(MESH),
    texts=_list(_object(pose=POSE, billboard=TRUTH, font_size=NUMBER, color=COLOUR, text=TEXT)),
    models=_list(_object(pose=POSE, url=TEXT)),
)
DELETION = _object(timestamp=TIME, type=WHOLE, id=TEXT)
SCENE_UPDATE = _object(deletions=_list(DELETION), entities=_list(ENTITY)) | {"title": "foxglove.SceneUpdate"}


def numbers_schema(names: list[str]) -> dict[str, Any]:
    """Of messages with one number for each name."""
    return _object(**dict.fromkeys(names, NUMBER)) | {"title": "sandlot.Numbers"}
