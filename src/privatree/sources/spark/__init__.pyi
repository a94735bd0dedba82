from privatree.sources.spark._session import spark_session as spark_session
from privatree.sources.spark._source import SparkFileSource as SparkFileSource
