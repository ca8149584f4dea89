"""Rows that are handed out once: kept in memory or in a file, and nothing said of what failed."""

from __future__ import annotations

from itertools import chain

import duckdb
import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import dataset, parquet

from discreet import LinearClassifier, LinearRegressor, artifact
from discreet.data.stored import open_table, pulled
from discreet.data.stored.arrow_dataset import DatasetTable
from discreet.data.stored.warehouse import DuckTable
from discreet.errors import InputError, SourceChanged
from discreet.ledger import MemoryLedger
from discreet.privacy import Budget
from discreet.schema import read, write
from support.place import run

pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")

COUNT = 5000
DRAW = np.random.default_rng(4)
FRAME = pd.DataFrame(
    {"age": DRAW.integers(18, 100, COUNT), "ward": DRAW.choice(["a", "b"], COUNT)}
).assign(ill=lambda frame: np.where(DRAW.random(COUNT) < frame["age"] / 120, "yes", "no"))
DECLARED = {"columns": {"age": (18, 100), "ward": ["a", "b"]}, "classes": ["no", "yes"]}


def learnt(X, **options):
    model = LinearClassifier(1.0, **DECLARED, rehearsal=2, **options)
    return model.fit(X, target="ill").coef_


class TestWhatIsKept:
    def test_many_rows_are_kept_in_a_file_and_few_in_memory_and_are_the_same(self, monkeypatch):
        query = duckdb.from_df(FRAME)
        few = learnt(query)
        held = pulled.HeldBatches.keep(DuckTable.open(query).pull(["age"]))
        assert isinstance(held.held, list)
        monkeypatch.setattr(pulled, "HELD_BYTES", 1)
        held = pulled.HeldBatches.keep(DuckTable.open(query).pull(["age"]))
        assert not isinstance(held.held, list)
        assert held.count == COUNT
        np.testing.assert_array_equal(learnt(query), few)

    def test_nothing_is_written_where_that_is_switched_off(self, monkeypatch):
        monkeypatch.setattr(pulled, "HELD_BYTES", 1)
        monkeypatch.setenv("DISCREET_SPILL", "no")
        held = pulled.HeldBatches.keep(DuckTable.open(duckdb.from_df(FRAME)).pull(["age"]))
        assert isinstance(held.held, list)

    def test_a_full_disk_is_said_without_a_word_of_the_rows(self, monkeypatch):
        monkeypatch.setattr(pulled, "HELD_BYTES", 1)
        monkeypatch.setattr(pulled.tempfile, "TemporaryFile", _no_room)
        with pytest.raises(SourceChanged, match="do not fit into a temporary file") as caught:
            pulled.HeldBatches.keep(DuckTable.open(duckdb.from_df(FRAME)).pull(["age"]))
        assert caught.value.__cause__ is caught.value.__context__ is None

    @pytest.mark.parametrize("skipped", [0, 1, 2500, COUNT - 1, COUNT])
    def test_rows_come_in_order_from_any_place_on(self, skipped, monkeypatch):
        monkeypatch.setattr(pulled, "ASKED_AT_ONCE", 700)
        table = DuckTable.open(duckdb.from_df(FRAME))
        held = pulled.HeldBatches.keep(table.pull(["age"]))
        found = [batch.column("age").to_pylist() for _, batch in held.batches([], 333, skipped)]
        assert list(chain.from_iterable(found)) == FRAME["age"].tolist()[skipped:]
        assert max(map(len, found), default=0) <= 333

    def test_a_source_is_asked_once_for_each_fit(self):
        asked = []

        class Counted(DuckTable):
            def ask_rows(self, names):
                asked.append(list(names))
                return super().ask_rows(names)

        learnt(Counted.open(duckdb.from_df(FRAME)))
        assert asked == [["age", "ward", "ill"]]


def _no_room(**_):
    raise OSError(28, "No space left on device")


class TestQueries:
    def test_a_query_is_run_after_the_charge_and_a_failure_says_nothing(self):
        spoilt = FRAME.assign(ward=FRAME["ward"].mask(FRAME.index == 7, "4711"))
        relation = duckdb.from_df(spoilt).select("* exclude (age), if(ward = '4711', "
                                                 "error('4711'), 1)::double as age")  # fmt: skip
        ledger = MemoryLedger(Budget(1.0, 1e-6))
        model = LinearClassifier(1.0, 1e-7, **DECLARED, ledger=ledger)
        with pytest.raises(SourceChanged, match="could not be read to their end") as caught:
            model.fit(relation, target="ill")
        assert caught.value.__cause__ is caught.value.__context__ is None
        assert "4711" not in str(caught.value)
        assert ledger.remaining(delta=1e-6) < 1e-6

    def test_types_are_looked_at_before_the_charge(self):
        ledger = MemoryLedger(Budget(1.0, 1e-6))
        model = LinearClassifier(1.0, 1e-7, **DECLARED, ledger=ledger)
        with pytest.raises(InputError, match="must hold numbers; its type is string"):
            model.fit(duckdb.from_df(FRAME.assign(age="old")), target="ill")
        with pytest.raises(InputError, match="the column 'ward', which is declared, is missing"):
            model.fit(duckdb.from_df(FRAME[["age", "ill"]]), target="ill")
        assert ledger.remaining(delta=1e-6) == pytest.approx(1.0)

    def test_columns_that_differ_in_case_alone_are_refused(self):
        relation = duckdb.from_df(FRAME).select('*, 1 as "AGE"')
        with pytest.raises(InputError, match="does not tell the columns age and AGE apart"):
            learnt(relation)

    def test_how_many_rows_there_are_is_not_known_before_they_are_paid_for(self):
        source = open_table(duckdb.from_df(FRAME), target="ill")
        assert not source.table.source(_encoding()).knows_count

    def test_no_row_is_an_empty_table(self):
        with pytest.raises(SourceChanged, match="at least one row"):
            learnt(duckdb.from_df(FRAME).filter("age > 1000"))

    def test_predictions_are_those_of_the_rows_in_their_order(self):
        model = LinearClassifier(1.0, **DECLARED, rehearsal=2).fit(
            FRAME[["age", "ward"]], FRAME["ill"]
        )
        relation = duckdb.from_df(FRAME)
        np.testing.assert_array_equal(
            model.predict(relation), model.predict(FRAME[["age", "ward"]])
        )


def _encoding():
    from discreet.data.frame import matrix_of
    from discreet.data.stored.table import Encoding, Wanted

    return Encoding((Wanted("age"),), matrix_of, 1)


class TestDataBases:
    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "ward.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.register("frame", FRAME)
            connection.execute('create table "the stays" as select * from frame')
        return path

    def test_the_only_table_is_taken(self, path):
        np.testing.assert_array_equal(learnt(str(path)), learnt(duckdb.from_df(FRAME)))

    def test_one_of_several_tables_is_not_guessed(self, path):
        with duckdb.connect(str(path)) as connection:
            connection.execute("create table other as select 1 as a")
        with pytest.raises(InputError, match="2 tables; say in the schema which rows are meant"):
            learnt(str(path))
        asked = DuckTable.ask_file(path, 'select * from "the stays"')
        np.testing.assert_array_equal(learnt(asked), learnt(duckdb.from_df(FRAME)))

    @pytest.mark.parametrize(
        "query",
        ["delete from t", "select 1; select 2", "copy (select 1) to 'x.csv'", "", "selec 1",
         "select nothing from nowhere", "create table t as select 1"],
    )  # fmt: skip
    def test_what_is_no_single_question_is_refused(self, query, path, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(InputError, match="the query cannot be asked"):
            DuckTable.ask_file(path, query)
        assert sorted(file.name for file in tmp_path.iterdir()) == ["ward.duckdb"]

    def test_what_is_no_data_base_is_refused(self, tmp_path):
        (tmp_path / "x.duckdb").write_bytes(b"4711" * 1000)
        with pytest.raises(InputError, match="cannot be opened as a data base"):
            learnt(str(tmp_path / "x.duckdb"))
        with pytest.raises(InputError, match="there is no such file"):
            learnt(str(tmp_path / "y.duckdb"))


@pytest.fixture
def memory():
    """A place in memory with three files, and one that does not count."""
    system = fsspec.filesystem("memory")
    table = pa.Table.from_pandas(FRAME)
    for number, start in enumerate(range(0, COUNT, 2000)):
        with system.open(f"/stays/{number}.parquet", "wb") as file:
            parquet.write_table(table.slice(start, 2000), file)
    with system.open("/stays/_old.parquet", "wb") as file:
        parquet.write_table(table, file)
    yield system
    system.rm("/stays", recursive=True)


class TestAddresses:
    def test_folders_patterns_lists_and_datasets_are_the_same_table(self, memory):
        files = [f"memory://stays/{number}.parquet" for number in range(3)]
        whole = dataset.dataset(pa.Table.from_pandas(FRAME))
        expected = learnt(whole)
        for X in ("memory://stays", "memory://stays/?.parquet", files):
            np.testing.assert_array_equal(learnt(X), expected)

    @pytest.mark.parametrize(
        ("address", "said"),
        [
            ("memory://nowhere", "there is no Parquet file here"),
            ("strange://stays", "this address is not known"),
            ("memory://stays/a.csv", "text is read from one .csv file"),
            (["memory://stays/0.parquet", "file:///stays"], "must lie in one place"),
        ],
    )
    def test_what_is_not_there_is_said(self, address, said, memory):
        with pytest.raises(InputError, match=said):
            learnt(address)

    def test_files_of_other_types_are_refused_before_the_charge(self, memory):
        with memory.open("/stays/9.parquet", "wb") as file:
            parquet.write_table(pa.Table.from_pandas(FRAME.assign(age=FRAME["age"] + 0.5)), file)
        with pytest.raises(InputError, match="the column 'age' has another type in another file"):
            learnt("memory://stays")
        with memory.open("/stays/9.parquet", "wb") as file:
            parquet.write_table(pa.Table.from_pandas(FRAME[["ward", "ill"]]), file)
        with pytest.raises(InputError, match="the column 'age', which is declared, is missing"):
            learnt("memory://stays")

    def test_a_broken_file_is_refused(self, memory):
        with memory.open("/stays/0.parquet", "wb") as file:
            file.write(b"PAR1 4711")
        with pytest.raises(InputError, match="cannot be read as Parquet"):
            learnt("memory://stays")

    def test_a_file_that_is_gone_stops_the_fit_and_says_no_more(self, memory):
        table = DatasetTable.open("memory://stays")
        memory.rm("/stays/1.parquet")
        with pytest.raises(InputError, match="cannot be read as Parquet"):
            learnt(table)
        with pytest.raises(SourceChanged, match="could not be read to their end"):
            list(table.pull(["age"]))


class TestObjectStores:
    def test_a_folder_of_a_bucket_is_a_table(self, tmp_path, monkeypatch):
        pytest.importorskip("s3fs")
        moto = pytest.importorskip("moto.server")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "testing")
        server = moto.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        server.start()
        try:
            port = server.get_host_and_port()[1]
            monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
            system = fsspec.filesystem("s3", skip_instance_cache=True)
            system.mkdir("stays")
            table = pa.Table.from_pandas(FRAME)
            for number, start in enumerate((0, 2500)):
                with system.open(f"stays/{number}.parquet", "wb") as file:
                    parquet.write_table(table.slice(start, 2500), file)
            np.testing.assert_array_equal(learnt("s3://stays"), learnt(duckdb.from_df(FRAME)))
        finally:
            server.stop()


def test_regression_learns_from_a_query_of_postgres_types():
    numbers = duckdb.sql(
        "select range::hugeint as a, (range / 7)::decimal(12, 3) as b, range % 2 = 0 as c,"
        " range::double as y from range(1000)"
    )
    declared = {"a": (0, 1000), "b": (0, 200), "c": [False, True]}
    model = LinearRegressor(5.0, columns=declared, target_range=(0, 1000), rehearsal=1)
    model.fit(numbers, target="y")
    assert model.score(numbers.df()[["a", "b", "c"]].astype({"b": float}), np.arange(1000)) > 0.9


SCHEMA = """
[data]
query = '''select age, ward, ill from "the stays" where age < 90'''
[target]
name = "ill"
task = "classification"
classes = ["no", "yes"]
[columns.age]
type = "number"
range = [18, 100]
[columns.ward]
type = "category"
categories = ["a", "b"]
[privacy]
epsilon = 1.0
"""


class TestCommands:
    def test_the_schema_asks_a_data_base_and_files_at_addresses_are_read(self, tmp_path, memory):
        with duckdb.connect(str(tmp_path / "ward.duckdb")) as connection:
            connection.register("frame", FRAME)
            connection.execute('create table "the stays" as select * from frame')
            connection.execute("create table other as select 1 as one")
        (tmp_path / "schema.toml").write_text(SCHEMA)
        plain = SCHEMA.replace(SCHEMA.splitlines()[2], "")
        (tmp_path / "plain.toml").write_text(plain)
        young = pa.Table.from_pandas(FRAME[FRAME["age"] < 90], preserve_index=False)
        parquet.write_table(young, tmp_path / "young.parquet")
        options = "--model linear --rehearse 1 --json"
        asked = run(tmp_path, f"fit schema.toml ward.duckdb --out asked {options}")
        assert asked.code == 0, asked.error
        found = run(
            tmp_path, f"fit plain.toml file://{tmp_path}/young.parquet --out read {options}"
        )
        assert found.code == 0, found.error
        models = [artifact.load(tmp_path / name) for name in ("asked", "read")]
        np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
        said = run(tmp_path, "predict asked ward.duckdb --out said.csv")
        assert said.code == 0, said.error

    def test_a_query_is_not_asked_of_other_files(self, tmp_path):
        (tmp_path / "schema.toml").write_text(SCHEMA)
        FRAME.to_csv(tmp_path / "x.csv", index=False)
        said = run(tmp_path, "fit schema.toml x.csv --out model --rehearse 1").error
        assert "the schema has a query, which is asked of a data base" in said

    def test_a_schema_keeps_its_query(self, tmp_path):
        (tmp_path / "schema.toml").write_text(SCHEMA)
        schema = read(tmp_path / "schema.toml")
        (tmp_path / "again.toml").write_text(write(schema))
        assert read(tmp_path / "again.toml").query == schema.query
