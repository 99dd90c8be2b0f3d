"""What ``conf/figure/*.yaml`` says of a figure, and which kinds of figures there are."""

import pkgutil
from dataclasses import dataclass
from importlib import import_module

from boostbench import figures
from boostbench.config import definition_files as files
from boostbench.config import fields
from boostbench.figures.drawing import Drawing
from boostbench.util.errors import UserError, did_you_mean


@dataclass(frozen=True, kw_only=True)
class FigureDefinition:
    """A figure as its file defines it: the base of all kinds.

    A kind is a module of this package with a subclass, whose fields are the keys that its files may
    have. The files name the module: ``kind: curves``.

    Attributes
    ----------
    name : str
        Name of the file.
    title, caption : str
        What stands above and under it.
    """

    name: str
    title: str
    caption: str

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw it; what is not on record and can be computed is computed first.

        Parameters
        ----------
        overrides : list of str
            Hydra overrides for all of it.

        Returns
        -------
        Drawing

        Raises
        ------
        UserError
            For what the user can put right; nothing was written then.
        """
        raise NotImplementedError


def kinds() -> dict[str, type[FigureDefinition]]:
    """Find the kinds of figures by their names; needs matplotlib."""
    for module in pkgutil.iter_modules(figures.__path__):
        import_module(f"{figures.__name__}.{module.name}")
    by_module = {
        kind.__module__.rpartition(".")[2]: kind for kind in FigureDefinition.__subclasses__()
    }
    return dict(sorted(by_module.items()))


def read_figure(name: str) -> FigureDefinition:
    """Read a figure's definition.

    Parameters
    ----------
    name : str
        Name of a file in ``conf/figure``, or path of any YAML file.

    Returns
    -------
    FigureDefinition
        Of the kind that the file names.

    Raises
    ------
    UserError
        No such figure or kind, or keys or values that are not those of its kind.
    """
    path, content = files.read("figure", name)
    known = kinds()
    if "kind" not in content:
        raise UserError(f"{path} is no figure: it needs its kind; {did_you_mean('', known)}")
    kind = fields.check(str, content.pop("kind"), str(path), "kind")
    if kind not in known:
        raise UserError(f"{path}: kind is {kind!r}; {did_you_mean(kind, known)}")
    return fields.fill(known[kind], content, str(path), name=path.stem)
