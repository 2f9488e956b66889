"""PyTorch files: weights and data are loaded without executing code, programs only if trusted."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from pickletools import genops
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile, is_zipfile

from ..errors import FileError, InputError, PGMExplainerError
from ..limits import EXPANDED_BYTES, NESTING, as_size, brief
from ..storage.array_file import check_fits_memory
from ..storage.files import check_file

if TYPE_CHECKING:
    from torch import nn

__all__ = ["load_program", "load_tensors", "load_weights"]

_CHECKPOINT_KEYS = ("state_dict", "model_state_dict")
_PICKLES_OF_OLD_FORMAT = 5
_LONGEST_NAME = 500


def _need_torch(what: str) -> None:
    """Raise an error with installation instructions if PyTorch is missing."""
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise PGMExplainerError(f"{what} needs PyTorch: pip install torch ({error})") from error


def load_tensors(path: Path, trust: bool) -> Any:
    """Load a file of ``torch.save``: tensors, plain values and PyTorch Geometric data objects.

    Loading anything else can execute code, so it is refused unless the file is trusted.
    """
    _need_torch(f"reading {path}")
    import torch

    check_file(path)
    _check_archive(path)
    try:
        if not trust and _has_long_name(path):
            raise ValueError("the name of a class is too long")
        with torch.serialization.safe_globals(_data_classes()):
            loaded = torch.load(path, map_location="cpu", weights_only=not trust)
    except Exception as error:  # torch raises many kinds of errors on broken files
        if trust:
            raise FileError(f"{path} cannot be read: {error}") from error
        raise FileError(
            f"{path} is broken, or contains objects other than tensors and data objects, so that "
            f"loading it could execute code: save model.state_dict() or a Data object instead, or "
            f"add --trust if you trust the source of the file"
        ) from error
    try:
        for name, tensor in _tensors(loaded, "its content"):
            _check_not_repeated(tensor, f"{path}: {name}")
    except FileError:
        raise
    except Exception as error:  # a broken data object may raise anything
        raise FileError(f"{path} contains an incomplete object: {error}") from error
    return loaded


def _check_archive(path: Path) -> None:
    """Refuse an archive that expands to more than the available memory."""
    try:
        with ZipFile(path) as archive:
            size = sum(each.file_size for each in archive.infolist())
    except (BadZipFile, OSError, ValueError, NotImplementedError):
        return  # an older format, or damaged, which torch reports
    try:
        check_fits_memory(size)
    except FileError as error:
        raise FileError(f"{path}: {error}") from None


def _has_long_name(path: Path) -> bool:
    """Return whether a pickle contains a very long class name.

    PyTorch rejects it, but in a time that is quadratic in the length of the name.
    """
    with path.open("rb") as file:
        pickles: list[Any] = [file] * _PICKLES_OF_OLD_FORMAT  # one after the other
        if is_zipfile(path):
            archive = ZipFile(file)
            members = [each for each in archive.namelist() if each.endswith("data.pkl")]
            pickles = [BytesIO(archive.read(each)) for each in members]
        return any(
            opcode.name == "GLOBAL" and len(str(argument)) > _LONGEST_NAME
            for pickled in pickles
            for opcode, argument, _ in genops(pickled)
        )


def _tensors(value: Any, name: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield all tensors in a loaded object, with their names."""
    if hasattr(value, "untyped_storage"):
        yield name, value
    elif depth < NESTING:
        if callable(getattr(value, "to_dict", None)):
            value = value.to_dict()
        items: Iterable[tuple[Any, Any]] = ()
        if isinstance(value, (dict, list, tuple)):
            items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in items:
            yield from _tensors(each, f"{key!s:.60}", depth + 1)


def _check_not_repeated(tensor: Any, place: str) -> None:
    """Refuse a tensor whose strides repeat little data to a very large size."""
    try:
        held = tensor.untyped_storage().nbytes()
    except (NotImplementedError, RuntimeError):  # sparse tensors have no such storage
        return
    size = tensor.numel() * tensor.element_size()
    if size > max(held, EXPANDED_BYTES):
        raise FileError(
            f"{place} repeats {as_size(held)} of data to {as_size(size)}, and a tensor that "
            f"repeats its data may have at most {as_size(EXPANDED_BYTES)}: call contiguous() "
            f"before saving it"
        )


def _data_classes() -> list[Any]:
    """Return the classes of PyTorch Geometric's data objects, which are safe to load."""
    try:
        from torch_geometric.data import Data, HeteroData, storage
        from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
    except ImportError:
        return []
    stores = [storage.BaseStorage, storage.NodeStorage, storage.EdgeStorage, storage.GlobalStorage]
    return [Data, HeteroData, DataEdgeAttr, DataTensorAttr, *stores]


def load_weights(module: nn.Module, path: Path, trust: bool) -> None:
    """Load weights, from safetensors or a state_dict, into a module."""
    if path.suffix == ".safetensors":
        weights = _safetensors(path)
    else:
        weights = load_tensors(path, trust)
        if isinstance(weights, dict):
            inner = [weights[key] for key in _CHECKPOINT_KEYS if key in weights]
            weights = inner[0] if inner else weights
    if not isinstance(weights, dict):
        raise FileError(f"{path} contains a {type(weights).__name__}, not the weights of a module")
    try:
        module.load_state_dict(weights)
    except (AttributeError, RuntimeError, TypeError) as error:
        raise InputError(f"the weights in {path} do not fit the model: {error}") from error


def _safetensors(path: Path) -> dict[str, Any]:
    try:
        from safetensors.torch import load_file
    except ImportError as error:
        raise PGMExplainerError(f"{path} needs safetensors: pip install safetensors") from error
    check_file(path)
    try:
        return dict(load_file(path))
    except Exception as error:  # not all versions export its error class
        raise FileError(f"{path} cannot be read: {error}") from error


def load_program(path: Path, trust: bool) -> nn.Module:
    """Return a model saved as a program: by ``torch.export`` (``.pt2``) or as TorchScript.

    Raises:
        FileError: the file is not trusted, or is not a program.
    """
    if path.suffix == ".py":
        raise FileError(f"{path} is a Python file: name the model in it, as in {path}:model")
    _need_torch(f"reading {path}")
    _check_program(path)
    if not trust:
        raise FileError(
            f"{path} contains a program, and loading it can execute any code: add --trust if you "
            f"trust its source, or give your model as module:attribute with --weights"
        )
    import torch

    exported = path.suffix == ".pt2"
    try:
        if not is_zipfile(path):
            raise FileError("not a zip archive")
        load: Any = torch.export.load if exported else torch.jit.load
        loaded = load(os.fspath(path))
    except Exception as error:  # torch raises many kinds of errors on broken files
        kind = "torch.export" if exported else "TorchScript"
        raise FileError(
            f"{path} is not a {kind} model ({str(error).split('. ')[0]}); for a file of weights, "
            f"use --weights and give the model as module:attribute"
        ) from error
    if exported:
        _check_any_size(loaded, path)
        program = loaded.module()
        return _as_module(program, inspect.signature(program.forward))
    program = loaded.eval()
    return _as_module(program, _script_signature(program))


def _check_program(path: Path) -> None:
    """Refuse a file of ``torch.save``, which has no code; the message says what to do instead."""
    try:
        with ZipFile(path) as archive:
            members = {name.split("/", 1)[-1] for name in archive.namelist()}
    except (BadZipFile, OSError, ValueError, NotImplementedError):
        return  # reported when it is loaded
    is_program = any(name.startswith(("code/", "models/", "archive/code")) for name in members)
    if is_program or "constants.pkl" in members or "data.pkl" not in members:
        return
    try:
        loaded = load_tensors(path, trust=False)
    except FileError:
        loaded = None
    if isinstance(loaded, dict):
        raise FileError(
            f"{path} is a state_dict: it has the weights of a model, but not its code; give the "
            f"model as --model module:attribute with --weights {path}, or save the whole model as "
            f"TorchScript, torch.jit.script(model).save({brief(path.name)})"
        )
    what = "an object" if loaded is None else f"a {type(loaded).__name__}"
    raise FileError(
        f"{path} was written by torch.save and holds {what}, not a program; give the model as "
        f"module:attribute, or save it as TorchScript or with torch.export"
    )


def _check_any_size(exported: Any, path: Path) -> None:
    """Refuse a program that was exported for a fixed size, since subgraphs differ in size."""
    import torch

    inputs = set(exported.graph_signature.user_inputs)
    found = [node.meta["val"] for node in exported.graph.nodes if node.name in inputs]
    sizes = [size for value in found if hasattr(value, "shape") for size in value.shape]
    if not any(isinstance(size, torch.SymInt) for size in sizes):
        raise FileError(
            f"{path} was exported for a fixed graph size; export it with dynamic_shapes=("
            f'{{0: Dim("nodes")}}, {{1: Dim("edges")}}) for x and edge_index'
        )


def _script_signature(program: Any) -> inspect.Signature:
    """Return the signature of a TorchScript module, which Python cannot inspect."""
    arguments = program.forward.schema.arguments[1:]  # without self
    empty, kind = inspect.Parameter.empty, inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature(
        [
            inspect.Parameter(
                each.name, kind, default=each.default_value if each.has_default_value() else empty
            )
            for each in arguments
        ]
    )


def _as_module(program: Any, signature: inspect.Signature) -> nn.Module:
    """Return a module that calls the program and has an inspectable signature."""
    import torch
    from torch import nn

    def forward(*arguments: Any, **named: Any) -> Any:
        # By position: an exported program does not accept its positional arguments by name.
        return program(*signature.bind(*arguments, **named).args)

    forward.__signature__ = signature  # type: ignore[attr-defined]
    module = nn.Module()
    # Not as a submodule: an exported program cannot be put into evaluation mode.
    module.forward = forward
    # A resumed job recognises the model by its weights.
    module.state_dict = program.state_dict  # type: ignore[method-assign]
    kept = next((each for each in program.parameters() if each.is_floating_point()), None)
    if kept is not None:  # so that its device and precision can be detected
        module.register_buffer("computes_like", torch.empty_like(kept[:0]), persistent=False)
    return module
