"""Tables of two features in a graph of ONNX: cells are found, and rows gathered."""

import numpy as np

from boostbench.conversion.stumps import cells_of


def add_pairs(onnx, model, nodes, constants, scores):
    """Add the tables of a model to a graph.

    Parameters
    ----------
    onnx : module
    model : estimator
        Fitted, with `pairs_`.
    nodes : list
        Of the graph; ``double`` are the features there. Is added to.
    constants : dict of str to ndarray
        Is added to.
    scores : str
        The name of the scores without the tables.

    Returns
    -------
    str
        The name of the scores with them.
    """
    node = onnx.helper.make_node
    cells = {}
    for number, (axes, table) in enumerate(model.pairs_):
        of_axes = []
        for axis in axes:
            # Equal features of several pairs may have other thresholds.
            key = axis.feature, None if axis.thresholds is None else tuple(axis.thresholds)
            if key not in cells:
                cells[key] = _cell(onnx, model, axis, f"axis_{len(cells)}", nodes, constants)
            of_axes.append(cells[key])
        name = f"pair_{number}"
        constants[f"{name}_width"] = np.array(table.shape[1])
        constants[f"{name}_table"] = table.reshape(-1, table.shape[2])
        nodes += [
            node("Mul", [of_axes[0], f"{name}_width"], [f"{name}_row"]),
            node("Add", [f"{name}_row", of_axes[1]], [f"{name}_cell"]),
            node("Gather", [f"{name}_table", f"{name}_cell"], [f"{name}_added"]),
            node("Add", [scores, f"{name}_added"], [f"{name}_scores"]),
        ]
        scores = f"{name}_scores"
    return scores


def _cell(onnx, model, axis, name, nodes, constants):
    """Add what finds the cell of each sample, of shape (n_samples,); returns its name."""
    node = onnx.helper.make_node
    codes, missing = cells_of(model, axis)
    # A number is in the cell of so many thresholds as it is above, a category in its own.
    values = axis.thresholds if codes is None else np.arange(float(len(codes)))
    constants |= {
        f"{name}_feature": np.array(axis.feature),
        f"{name}_values": values,
        f"{name}_size": np.ones(len(values)) if codes is None else codes.astype(float),
        f"{name}_missing": np.float64(missing),
        f"{name}_last": np.array([1]),
    }
    nodes += [
        node("Gather", ["double", f"{name}_feature"], [f"{name}_x"], axis=1),
        node("Unsqueeze", [f"{name}_x", f"{name}_last"], [f"{name}_column"]),
        node(
            "Greater" if codes is None else "Equal",
            [f"{name}_column", f"{name}_values"],
            [f"{name}_holds"],
        ),
        node("Cast", [f"{name}_holds"], [f"{name}_counts"], to=onnx.TensorProto.DOUBLE),
        node("MatMul", [f"{name}_counts", f"{name}_size"], [f"{name}_known"]),
        node("IsNaN", [f"{name}_x"], [f"{name}_is_missing"]),
        node(
            "Where",
            [f"{name}_is_missing", f"{name}_missing", f"{name}_known"],
            [f"{name}_found"],
        ),
        node("Cast", [f"{name}_found"], [f"{name}_cell"], to=onnx.TensorProto.INT64),
    ]
    return f"{name}_cell"
