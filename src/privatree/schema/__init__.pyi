from privatree.schema._about import About as About
from privatree.schema._csv_dialect import CsvDialect as CsvDialect
from privatree.schema._features import Categorical as Categorical
from privatree.schema._features import Feature as Feature
from privatree.schema._features import Numeric as Numeric
from privatree.schema._schema import Schema as Schema
from privatree.schema._value_checks import Label as Label
from privatree.schema._value_checks import shorten_value as shorten_value
