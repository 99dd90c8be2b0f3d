"""Heat maps of the pairs of features of a bag."""

import numpy as np

from boostbench.algorithms.explanation.stump_sums import require_stump_sum
from boostbench.inspection.axes import make_axes_grid, y_axis_label
from boostbench.inspection.heat_maps import tick_labels

# Size of a heat map in inches.
_WIDTH, _HEIGHT = 3.6, 3.0
# Maximum number of tick labels of an axis.
_MAX_LABELS = 8


class PairDisplay:
    """Heat maps of the tables of pairs of features, one per pair.

    Use `from_estimator` to create it. The value of a cell is added to the score of a class (for two
    classes, of the second one) or to the prediction of a regressor, on top of the contributions of
    the single features, which `ShapeFunctionDisplay` shows.

    Parameters
    ----------
    shapes : boostbench.algorithms.explanation.shape_functions.ShapeFunctions
        Shape functions of the bag.

    Attributes
    ----------
    axes_ : list of matplotlib.axes.Axes
        Axes of the heat maps, in the order of importance.
    meshes_ : list of matplotlib.collections.QuadMesh
        Heat maps, with a common colour scale.
    figure_ : matplotlib.figure.Figure
        Figure of the heat maps.
    """

    def __init__(self, *, shapes):
        self.shapes = shapes

    @classmethod
    def from_estimator(cls, estimator, X=None, *, n_pairs=6, output=None, n_columns=3):
        """Draw the tables of a fitted bag.

        Parameters
        ----------
        estimator : BaggedMCBoost or BaggedLsBoostRegressor
            Fitted bag with pairs of features.
        X : array-like of shape (n_samples, n_features), default=None
            Samples over which the tables are centred to the mean 0. None: the training samples.
        n_pairs : int, default=6
            Maximum number of pairs, by decreasing importance.
        output : label, default=None
            Class whose score is drawn, if there are more than two. None: the last class.
        n_columns : int, default=3
            Maximum number of heat maps per row.

        Returns
        -------
        PairDisplay

        Raises
        ------
        ValueError
            If the estimator is not a sum of stumps, has no pairs, does not know the class
            `output`, or `n_pairs` is not positive.
        """
        require_stump_sum(estimator)
        display = cls(shapes=estimator.shape_functions(X))
        return display.plot(n_pairs=n_pairs, output=output, n_columns=n_columns)

    def plot(self, *, n_pairs=6, output=None, n_columns=3):
        """Draw the heat maps; see `from_estimator` for the parameters.

        Returns
        -------
        self
        """
        if n_pairs < 1:
            raise ValueError(f"n_pairs must be 1 or more, got {n_pairs!r}")
        if not self.shapes.pairs:
            raise ValueError("the model has no pairs of features: set interactions of a bag")
        outputs = list(self.shapes.outputs)
        if output is not None and output not in outputs:
            raise ValueError(f"there is no score of {output!r}")
        output_index = len(outputs) - 1 if output is None else outputs.index(output)
        order = np.argsort(-self.shapes.pair_importances, kind="stable")[:n_pairs]
        self.figure_, _, self.axes_ = make_axes_grid(len(order), n_columns, _WIDTH, _HEIGHT)
        largest = (
            max(np.abs(pair.table[..., output_index]).max() for pair in self.shapes.pairs) or 1.0
        )
        self.meshes_ = [
            self._draw_heat_map(ax, self.shapes.pairs[index], output_index, largest)
            for ax, index in zip(self.axes_, order, strict=True)
        ]
        class_suffix = f" of {outputs[output_index]}" if len(outputs) > 1 else ""
        label = f"{y_axis_label(self.shapes)}{class_suffix}"
        self.figure_.colorbar(self.meshes_[0], ax=self.axes_, label=label)
        return self

    def _draw_heat_map(self, ax, pair, output, largest):
        mesh = ax.pcolormesh(pair.table[..., output].T, cmap="RdBu_r", vmin=-largest, vmax=largest)
        for axis, ax_axis in zip(pair.axes, (ax.xaxis, ax.yaxis), strict=True):
            positions, texts = zip(
                *tick_labels(axis, self.shapes.cell_names(axis), _MAX_LABELS), strict=True
            )
            ax_axis.set_ticks(positions, texts, fontsize="small")
        ax.tick_params(axis="x", rotation=90)
        first, second = (str(self.shapes.feature_names[axis.feature]) for axis in pair.axes)
        ax.set(xlabel=first, ylabel=second)
        return mesh
