from privatree.estimators._base import MAX_DEPTH as MAX_DEPTH
from privatree.estimators._base import PUBLIC_PARAMETERS as PUBLIC_PARAMETERS
from privatree.estimators._base import PUBLIC_SCHEMA as PUBLIC_SCHEMA
from privatree.estimators._base import TreeClassifier as TreeClassifier
from privatree.estimators._base import check_columns as check_columns
from privatree.estimators._base import check_epsilon as check_epsilon
from privatree.estimators._base import schema_leaks as schema_leaks
from privatree.estimators._privatree import PrivaTreeClassifier as PrivaTreeClassifier
