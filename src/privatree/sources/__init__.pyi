from privatree.sources._arrow_source import ArrowSource
from privatree.sources._beside import open_frame_records as open_frame_records
from privatree.sources._beside import unit_column as unit_column
from privatree.sources._data_file import DataFile as DataFile
from privatree.sources._data_file import check_column_type as check_column_type
from privatree.sources._data_file import check_file_unit_type as check_file_unit_type
from privatree.sources._data_file import target_as_feature as target_as_feature
from privatree.sources._data_file import trim_column_names as trim_column_names
from privatree.sources._data_file import wanted_columns as wanted_columns
from privatree.sources._file_sources import CsvSource, ParquetSource
from privatree.sources._memory_estimate import fits_in_memory as fits_in_memory
from privatree.sources._paths import find_files as find_files
from privatree.sources._paths import is_csv_path as is_csv_path
from privatree.sources._paths import is_tab_separated_path as is_tab_separated_path
from privatree.sources._paths import partitions_of_path as partitions_of_path
from privatree.sources._read_files import open_file as open_file
from privatree.sources._read_files import open_files as open_files
from privatree.sources._read_files import read_files as read_files
from privatree.sources._read_files import read_files_without_schema as read_files_without_schema
from privatree.sources._source import Records as Records
from privatree.sources._source import Source as Source
from privatree.sources.spark._source import SparkSource

__all__ = ["ArrowSource", "CsvSource", "ParquetSource", "SparkSource"]
