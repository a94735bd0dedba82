"""What the paper printed [Vos23]: accuracy and runtimes, to compare with ours.

The tables hold the paper's figures and nothing else: ``mean±standard error``, ``-`` where a method
does not apply. The sizes of the datasets are in ``datasets/``. Four datasets occur in two of the
paper's suites; where they have categories, their names end in ``-mixed``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

METHODS = (
    "decision-tree",
    "bdpt",
    "privatree-star",
    "dpgdf",
    "diffprivlib-tree",
    "privatree-paper",
)
"""The columns of the tables of accuracy and runtime."""

EPSILONS = (0.01, 0.1, 1.0)
"""The budgets at which the paper printed accuracy."""

RUNTIME_EPSILON = 0.1
"""The budget at which the paper printed runtimes."""


class Published(NamedTuple):
    """A mean over five folds and its standard error."""

    mean: float
    standard_error: float


class PublishedRuntime(NamedTuple):
    """Seconds; ``bound`` is ``"<"`` or ``">"`` where the paper printed only a bound, else empty."""

    seconds: float
    standard_error: float
    bound: str = ""

    @property
    def text(self) -> str:
        """The seconds as the paper printed them."""
        return f"{self.bound}{self.seconds:g}"


def accuracy(dataset: str, method: str, epsilon: float) -> Published | None:
    """The paper's test accuracy of trees of depth 4.

    Parameters
    ----------
    dataset, method : str
        As in the results.
    epsilon : float
        Ignored for the tree without privacy, which the paper repeats in every table.

    Returns
    -------
    Published or None
        None if the paper has no such figure; :func:`mark` says what it printed instead.
    """
    mean, plus_minus, standard_error = _accuracy_cell(dataset, method, epsilon).partition("±")
    return Published(float(mean), float(standard_error)) if plus_minus else None


def mark(dataset: str, method: str, epsilon: float) -> str:
    """What the paper printed in place of an accuracy: ``timeout``, ``-`` or nothing."""
    cell = _accuracy_cell(dataset, method, epsilon)
    return "" if "±" in cell else cell


def runtime(dataset: str, method: str, epsilon: float) -> PublishedRuntime | None:
    """The paper's mean runtime; None if it has none, as at every epsilon but ``RUNTIME_EPSILON``.

    It is rounded to whole seconds; so is its standard error, which is NaN where none is printed.
    The tree without privacy stands in the same table, so for it too the epsilon is the table's.
    """
    cell = _cell(_RUNTIME, dataset, method)
    if cell in ("", "-") or not math.isclose(epsilon, RUNTIME_EPSILON):
        return None
    seconds, _, standard_error = cell.partition("±")
    bound = seconds[0] if seconds[0] in "<>" else ""
    return PublishedRuntime(float(seconds.lstrip("<>")), float(standard_error or math.nan), bound)


def _accuracy_cell(dataset: str, method: str, epsilon: float) -> str:
    if method == "decision-tree":
        epsilon = EPSILONS[0]
    for printed, table in _ACCURACY.items():
        if math.isclose(epsilon, printed):
            return _cell(table, dataset, method)
    return ""


def _cell(table: dict[str, list[str]], dataset: str, method: str) -> str:
    if dataset not in table or method not in METHODS:
        return ""
    return table[dataset][METHODS.index(method)]


def _rows(table: str) -> dict[str, list[str]]:
    return {name: cells for name, *cells in map(str.split, table.strip().splitlines())}


_ACCURACY = {
    0.01: _rows("""
Bioresponse                          .701±.009  .497±.001 .515±.012 -         .510±.014 .531±.022
Diabetes130US                        .606±.002  .505±.003 .575±.007 -         .547±.012 .530±.010
Higgs                                .657±.001  timeout   .647±.001 -         .506±.001 .648±.000
MagicTelescope                       .783±.008  .500±.000 .628±.030 -         .637±.023 .640±.036
MiniBooNE                            .872±.001  .500±.000 .797±.007 -         .506±.005 .761±.014
bank-marketing                       .768±.004  .500±.001 .656±.025 -         .592±.034 .526±.019
california                           .783±.002  .500±.000 .670±.024 -         .552±.047 .662±.041
covertype                            .741±.001  .500±.000 .736±.002 -         .535±.002 .730±.001
credit                               .748±.001  .500±.000 .693±.027 -         .519±.010 .558±.031
default-of-credit-card-clients       .700±.006  .500±.000 .596±.018 -         .516±.011 .541±.025
electricity                          .731±.001  .500±.000 .699±.014 -         .616±.022 .658±.017
eye_movements                        .571±.010  .500±.000 .504±.010 -         .516±.010 .511±.007
heloc                                .702±.004  .509±.005 .581±.014 -         .534±.023 .564±.019
house_16H                            .819±.003  .500±.000 .656±.019 -         .523±.017 .664±.010
jannis                               .718±.001  .500±.000 .654±.009 -         .565±.012 .638±.012
pol                                  .930±.001  .499±.003 .567±.008 -         .570±.007 .535±.016
albert                               .641±.002  .500±.000 .599±.008 .500±.001 .504±.004 .542±.007
compas-two-years                     .664±.005  .503±.005 .528±.018 .495±.023 .537±.014 .520±.022
covertype-mixed                      .756±.001  .507±.004 .746±.002 .534±.016 .533±.006 .743±.002
default-of-credit-card-clients-mixed .704±.005  .500±.000 .621±.023 .507±.014 .533±.010 .520±.009
electricity-mixed                    .732±.002  .500±.000 .686±.018 .499±.006 .587±.023 .650±.023
eye_movements-mixed                  .570±.003  .500±.000 .511±.017 .483±.010 .513±.007 .507±.009
road-safety                          .728±.001  .500±.000 .689±.002 .685±.002 .548±.036 .688±.002
adult                                .840±.001  .747±.004 .777±.007 .742±.004 .753±.002 .771±.010
breast-w                             .950±.007  .502±.061 .824±.038 -         .690±.108 .331±.143
diabetes                             .723±.012  .660±.010 .514±.055 -         .581±.051 .513±.086
mushroom                             .977±.005  .640±.009 .778±.040 .654±.056 .752±.051 .784±.064
nursery                              1.000±.000 .623±.033 .949±.031 .564±.036 .688±.030 1.000±.000
vote                                 .944±.014  .560±.083 .535±.028 .464±.105 .531±.060 .608±.158
"""),
    0.1: _rows("""
Bioresponse                          .701±.009  .502±.001  .574±.015  -         .519±.013 .564±.017
Diabetes130US                        .606±.002  .511±.005  .601±.001  -         .507±.003 .600±.001
Higgs                                .657±.001  timeout    .658±.001  -         .513±.010 .659±.001
MagicTelescope                       .783±.008  .500±.000  .756±.003  -         .553±.022 .740±.005
MiniBooNE                            .872±.001  .500±.000  .859±.002  -         .509±.006 .858±.002
bank-marketing                       .768±.004  .501±.001  .735±.008  -         .538±.013 .747±.008
california                           .783±.002  .500±.000  .754±.009  -         .512±.005 .756±.006
covertype                            .741±.001  .502±.001  .745±.002  -         .569±.035 .748±.001
credit                               .748±.001  .500±.000  .739±.003  -         .516±.009 .720±.014
default-of-credit-card-clients       .700±.006  .500±.000  .679±.008  -         .549±.019 .684±.003
electricity                          .731±.001  .500±.000  .738±.003  -         .555±.030 .736±.006
eye_movements                        .571±.010  .500±.000  .532±.007  -         .518±.007 .514±.009
heloc                                .702±.004  .518±.009  .696±.002  -         .532±.015 .677±.011
house_16H                            .819±.003  .500±.000  .765±.010  -         .555±.009 .769±.007
jannis                               .718±.001  .500±.000  .707±.003  -         .564±.032 .702±.003
pol                                  .930±.001  .509±.014  .871±.011  -         .580±.016 .836±.015
albert                               .641±.002  .501±.001  .632±.002  .511±.008 .546±.017 .631±.003
compas-two-years                     .664±.005  .562±.013  .639±.007  .571±.004 .569±.005 .595±.013
covertype-mixed                      .756±.001  .614±.001  .755±.001  .537±.011 .539±.018 .755±.001
default-of-credit-card-clients-mixed .704±.005  .500±.001  .691±.005  .528±.004 .535±.015 .689±.006
electricity-mixed                    .732±.002  .500±.000  .740±.004  .518±.004 .527±.014 .734±.004
eye_movements-mixed                  .570±.003  .500±.001  .514±.007  .523±.004 .524±.009 .533±.005
road-safety                          .728±.001  .685±.002  .710±.003  .685±.002 .555±.033 .721±.001
adult                                .840±.001  .752±.000  .815±.001  .753±.002 .757±.003 .820±.003
breast-w                             .950±.007  .614±.025  .909±.025  -         .842±.037 .886±.019
diabetes                             .723±.012  .624±.017  .659±.011  -         .667±.010 .673±.019
mushroom                             .977±.005  .880±.013  .973±.011  .761±.042 .749±.048 .985±.002
nursery                              1.000±.000 1.000±.000 1.000±.000 .707±.027 .767±.061 1.000±.000
vote                                 .944±.014  .608±.062  .771±.081  .561±.081 .827±.036 .737±.061
"""),
    1.0: _rows("""
Bioresponse                          .701±.009  .499±.001  .699±.009  -         .514±.007 .683±.006
Diabetes130US                        .606±.002  .545±.001  .605±.002  -         .526±.009 .605±.002
Higgs                                .657±.001  timeout    .660±.000  -         .504±.002 .658±.002
MagicTelescope                       .783±.008  .500±.000  .779±.006  -         .606±.038 .783±.005
MiniBooNE                            .872±.001  .601±.002  .869±.001  -         .502±.000 .868±.001
bank-marketing                       .768±.004  .600±.003  .763±.004  -         .523±.006 .765±.003
california                           .783±.002  .501±.001  .780±.003  -         .553±.024 .782±.005
covertype                            .741±.001  .529±.001  .747±.001  -         .532±.006 .746±.001
credit                               .748±.001  .557±.002  .747±.002  -         .535±.017 .751±.003
default-of-credit-card-clients       .700±.006  .516±.016  .699±.006  -         .529±.014 .696±.006
electricity                          .731±.001  .606±.009  .742±.001  -         .604±.037 .740±.002
eye_movements                        .571±.010  .500±.000  .577±.010  -         .533±.014 .581±.007
heloc                                .702±.004  .628±.004  .700±.006  -         .604±.020 .701±.006
house_16H                            .819±.003  .695±.011  .817±.003  -         .595±.031 .805±.005
jannis                               .718±.001  .632±.002  .717±.004  -         .559±.015 .716±.003
pol                                  .930±.001  .638±.014  .912±.004  -         .551±.016 .905±.006
albert                               .641±.002  .633±.002  .639±.003  .512±.004 .506±.003 .638±.002
compas-two-years                     .664±.005  .589±.015  .674±.006  .582±.007 .569±.007 .656±.006
covertype-mixed                      .756±.001  .614±.000  .756±.001  .516±.005 .536±.007 .753±.001
default-of-credit-card-clients-mixed .704±.005  .500±.000  .698±.006  .528±.004 .607±.026 .696±.004
electricity-mixed                    .732±.002  .612±.002  .741±.002  .518±.004 .579±.020 .741±.002
eye_movements-mixed                  .570±.003  .499±.001  .575±.004  .530±.005 .519±.005 .573±.007
road-safety                          .728±.001  .601±.057  .709±.003  .642±.025 .517±.007 .722±.004
adult                                .840±.001  .809±.001  .822±.003  .752±.000 .758±.005 .823±.001
breast-w                             .950±.007  .559±.020  .930±.012  -         .917±.026 .946±.008
diabetes                             .723±.012  .645±.006  .741±.012  -         .683±.024 .706±.028
mushroom                             .977±.005  .950±.008  .998±.001  .728±.048 .749±.044 .999±.001
nursery                              1.000±.000 1.000±.000 1.000±.000 .690±.016 .715±.035 1.000±.000
vote                                 .944±.014  .901±.021  .957±.012  .802±.049 .836±.021 .944±.022
"""),
}

_RUNTIME = _rows("""
Bioresponse                          <1±0 1±0    2±0  -    <1±0 7±0
Diabetes130US                        <1±0 <1±0   <1±0 -    <1±0 1±0
Higgs                                9±0  >7200  2±0  -    6±0  108±3
MagicTelescope                       <1±0 1±0    <1±0 -    <1±0 1±0
MiniBooNE                            1±0  213±48 1±0  -    <1±0 12±1
bank-marketing                       <1±0 <1±0   <1±0 -    <1±0 <1±0
california                           <1±0 1±0    <1±0 -    <1±0 1±0
covertype                            1±0  9±0    1±0  -    4±0  24±0
credit                               <1±0 <1±0   <1±0 -    <1±0 1±0
default-of-credit-card-clients       <1±0 1±0    <1±0 -    <1±0 1±0
electricity                          <1±0 <1±0   <1±0 -    <1±0 1±0
eye_movements                        <1±0 <1±0   <1±0 -    <1±0 1±0
heloc                                <1±0 <1±0   <1±0 -    <1±0 1±0
house_16H                            <1±0 2±0    <1±0 -    <1±0 1±0
jannis                               1±0  98±1   1±0  -    <1±0 9±0
pol                                  <1±0 <1±0   <1±0 -    <1±0 1±0
albert                               <1±0 2±0    1±0  <1±0 <1±0 5±0
compas-two-years                     <1±0 <1±0   <1±0 <1±0 <1±0 <1±0
covertype-mixed                      1±0  13±1   1±0  1±0  3±0  21±1
default-of-credit-card-clients-mixed <1±0 1±0    <1±0 <1±0 <1±0 1±0
electricity-mixed                    <1±0 <1±0   <1±0 <1±0 <1±0 1±0
eye_movements-mixed                  <1±0 <1±0   <1±0 <1±0 <1±0 1±0
road-safety                          1±0  50±3   1±0  <1±0 1±0  14±0
adult                                <1±0 1±0    <1±0 <1±0 <1±0 1±0
breast-w                             <1±0 <1±0   <1±0 -    <1±0 <1±0
diabetes                             <1±0 <1±0   <1±0 -    <1±0 <1±0
mushroom                             <1±0 <1±0   <1±0 <1±0 <1±0 <1±0
nursery                              <1±0 <1±0   <1±0 <1±0 <1±0 <1±0
vote                                 <1±0 <1±0   <1±0 <1±0 <1±0 <1±0
""")
