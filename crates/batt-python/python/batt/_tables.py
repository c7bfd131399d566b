"""Results as data frames of pandas, polars and pyarrow, which are imported when they are needed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["to_arrow", "to_pandas", "to_polars"]

Parts = tuple[str, Any, Any]
"""A kind of column, its cells, and an array that says which cells are missing."""


def _needed(package: str, method: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError as error:
        message = f"{method}() needs {package}: pip install {package}"
        raise ImportError(message, name=package) from error


def to_pandas(columns: Mapping[str, Parts]) -> Any:
    """Makes a pandas data frame. Missing cells are `pandas.NA`."""
    pd = _needed("pandas", "to_pandas")
    makers: dict[str, Callable[[Any, Any], Any]] = {
        # Strings of Python need no pyarrow, whatever pandas' own choice is.
        "text": lambda cells, _: pd.array(cells, dtype=pd.StringDtype("python")),
        "texts": lambda cells, _: pd.Series(cells, dtype=object),
        "bool": pd.arrays.BooleanArray,
        "int": pd.arrays.IntegerArray,
        "float": lambda cells, _: cells,
    }
    return pd.DataFrame(
        {name: makers[kind](cells, missing) for name, (kind, cells, missing) in columns.items()}
    )


def to_polars(streams: Any) -> Any:
    """Makes a polars data frame of an object with an Arrow stream."""
    return _needed("polars", "to_polars").DataFrame(streams)


def to_arrow(streams: Any) -> Any:
    """Makes a pyarrow table of an object with an Arrow stream."""
    return _needed("pyarrow", "to_arrow").table(streams)
