"""Checkpoints of a training with Stable-Baselines3, as one safetensors file: weights, optimizers, and what was trained.

Stable-Baselines3's own files hold pickles, which run code when they are read.
"""

import json
from pathlib import Path
from typing import Any

from sandlot.errors import ModelError
from sandlot.extras import need
from sandlot.reading import read_bytes
from sandlot.writing import drafted

LARGEST = 500_000_000
"""Of a checkpoint [byte]."""
ABOUT, ENTROPY = "about", "entropy"


def keep(model: Any, path: Path, about: dict[str, Any]) -> None:
    """Write a checkpoint, in place of the one before.

    Args:
        model: Of Stable-Baselines3.
        path: Of the file.
        about: What is trained; plain values.
    """
    tensors = {f"policy/{name}": value for name, value in model.policy.state_dict().items()}
    if getattr(model, "log_ent_coef", None) is not None:
        tensors[ENTROPY] = model.log_ent_coef.detach()
    for name, optimizer in _optimizers(model).items():
        for number, state in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer/{name}/{number}/{key}": value for key, value in state.items()}
    said = json.dumps({**about, "done": int(model.num_timesteps)})
    files = need("safetensors.torch", "learn")
    content = files.save({name: value.contiguous().clone() for name, value in tensors.items()}, {ABOUT: said})
    with drafted(path, ModelError, overwrite=True) as draft:
        draft.write_bytes(content)


def resume(model: Any, path: Path, about: dict[str, Any]) -> int:
    """Take the weights of a checkpoint, if there is one; returns the steps that are done.

    Raises:
        ModelError: If it is damaged, or of another training.
    """
    if not path.exists():
        return 0
    torch, files = need("torch", "learn"), need("safetensors.torch", "learn")
    content = read_bytes(path, LARGEST, ModelError)
    try:
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        state = json.loads(header["__metadata__"][ABOUT])
        done = int(state.pop("done"))
        tensors = files.load(content)
        others = _shared(state) != _shared(json.loads(json.dumps(about)))
    except Exception as error:  # safetensors has errors of its own
        raise ModelError(f"{path} is damaged: {str(error)[:60]}; remove it to begin anew") from None
    if others:
        raise ModelError(f"{path} is of another training; remove it to begin anew, or use its settings to go on")
    try:
        named = {name.removeprefix("policy/"): each for name, each in tensors.items() if name.startswith("policy/")}
        model.policy.load_state_dict(named)
        if ENTROPY in tensors:
            with torch.no_grad():
                model.log_ent_coef.copy_(tensors[ENTROPY])
        for name, optimizer in _optimizers(model).items():
            whole = optimizer.state_dict()
            for key, value in tensors.items():
                if key.startswith(f"optimizer/{name}/"):
                    number, entry = key.split("/")[2:]
                    whole["state"].setdefault(int(number), {})[entry] = value
            optimizer.load_state_dict(whole)
    except (KeyError, RuntimeError, ValueError) as error:
        raise ModelError(f"{path} does not fit: {str(error)[:60]}; remove it to begin anew") from None
    return done


def _optimizers(model: Any) -> dict[str, Any]:
    policy = model.policy
    found = {
        "policy": getattr(policy, "optimizer", None),
        "actor": getattr(getattr(policy, "actor", None), "optimizer", None),
        "critic": getattr(getattr(policy, "critic", None), "optimizer", None),
        "entropy": getattr(model, "ent_coef_optimizer", None),
    }
    return {name: each for name, each in found.items() if each is not None}


def _shared(about: dict[str, Any]) -> dict[str, Any]:
    """What a training that goes on shares with the one before; it may be longer."""
    training = {name: value for name, value in about["training"].items() if name not in ("steps", "every")}
    return {**about, "training": training}
