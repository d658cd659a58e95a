"""From the entries that Numba compiled to one LLVM module of functions that C could call.

The function of an entry takes arrays as pointers to descriptions, groups of arrays as pointers to
tables of these, and groups of numbers as their fields (`firmware_py.inference.library`). It makes
Numba's arrays and tuples of them, and calls the kernel.
This runs in a process of its own, in which Numba compiles for no processor in particular: see
`kernels.COMPILE_ENVIRONMENT`.
"""

import gc
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from llvmlite import ir
from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target
from numba.np.arrayobj import make_array, populate_array

from firmware_py.inference.library import kernel_name

_INT64: Final = ir.IntType(64)
_POINTER: Final = ir.PointerType()
_SCALARS: Final = {types.float64: ir.DoubleType(), types.int64: _INT64}
_DIMENSIONS: Final = 3  # in a description, whatever the array has
_WORD_BYTES: Final = 8  # of a float64 and of an int64


def entries(modules: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield the name of every kernel of these modules that Python calls, and what it became."""
    for name in modules:
        module = import_module(f"firmware_py.inference.{name}")
        for value in vars(module).values():
            if not isinstance(value, Dispatcher) or value.py_func.__module__ != module.__name__:
                continue
            if not value._can_compile:  # type: ignore[attr-defined] # its signature is fixed
                (overload,) = value.overloads.values()
                yield kernel_name(value.py_func), overload


def _array(context: Any, builder: Any, kind: types.Array, table: Any, number: int = 0) -> Any:
    """Return Numba's array for a description of a table: {pointer to the data, int64 shape[3]}."""
    struct = ir.LiteralStructType([_POINTER, ir.ArrayType(_INT64, _DIMENSIONS)])

    def member(*path: int) -> Any:
        indices = [ir.IntType(32)(i) for i in (number, *path)]
        return builder.gep(table, indices, inbounds=True, source_etype=struct)

    data = builder.load(member(0), typ=_POINTER)
    shape = [builder.load(member(1, i), typ=_INT64) for i in range(kind.ndim)]
    strides = [_INT64(_WORD_BYTES)]
    for extent in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], extent))
    array = make_array(kind)(context, builder)
    populate_array(array, data, shape, strides, _INT64(_WORD_BYTES), None)
    return array._getvalue()


def _wrap(module: ir.Module, name: str, overload: Any) -> None:
    context, signature = cpu_target.target_context, overload.signature
    passed = [_SCALARS.get(kind, _POINTER) for kind in types_to_pass(signature.args)]
    result_type = _SCALARS[signature.return_type]
    wrapper = ir.Function(module, ir.FunctionType(result_type, passed), name)
    builder = ir.IRBuilder(wrapper.append_basic_block())
    values = iter(wrapper.args)

    def argument(kind: Any) -> Any:
        if _is_group_of_arrays(kind):
            table = next(values)
            fields = [_array(context, builder, of, table, i) for i, of in enumerate(kind.types)]
            return context.make_tuple(builder, kind, fields)
        if _is_group(kind):
            return context.make_tuple(builder, kind, [next(values) for _ in kind.types])
        value = next(values)
        return value if kind in _SCALARS else _array(context, builder, kind, value)

    arguments = [argument(kind) for kind in signature.args]
    kernel = context.declare_function(module, overload.fndesc)
    _, result = context.call_conv.call_function(
        builder, kernel, signature.return_type, signature.args, arguments
    )
    builder.ret(result)


def types_to_pass(kinds: Iterable[Any]) -> Iterator[Any]:
    """Yield the types of what is passed for arguments of these types.

    That is a number's own, and another one for the pointer to an array, or to a group of them.
    """
    for kind in kinds:
        yield from kind.types if _is_group(kind) and not _is_group_of_arrays(kind) else (kind,)


def _is_group(kind: Any) -> bool:
    return isinstance(kind, types.BaseTuple)  # type: ignore[attr-defined]


def _is_group_of_arrays(kind: Any) -> bool:
    return _is_group(kind) and isinstance(kind.types[0], types.Array)


def export(modules: Iterable[str]) -> str:
    """Return the text of an LLVM module with the entries of these, and all that they call."""
    context = cpu_target.target_context
    module = ir.Module("kernels")
    module.triple = ""
    library = context.codegen().create_library("kernels")
    for name, overload in entries(modules):
        _wrap(module, name, overload)
        library.add_linking_library(overload.library)
    library.add_ir_module(module)
    with global_compiler_lock:
        library.finalize()
    return str(library.get_llvm_str())


if __name__ == "__main__":
    gc.disable()  # a short life: a quarter of it would be looking for garbage
    Path(sys.argv[1]).write_text(export(sys.argv[2:]), encoding="ascii")
