from privatree.schema._csv_dialect import CsvDialect as CsvDialect
from privatree.schema._schema import Categorical as Categorical
from privatree.schema._schema import Feature as Feature
from privatree.schema._schema import Label as Label
from privatree.schema._schema import Numeric as Numeric
from privatree.schema._schema import Schema as Schema
