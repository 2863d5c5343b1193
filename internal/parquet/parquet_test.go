package parquet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hlocb/hlocb/internal/peer"
)

func testFields() []Field {
	return []Field{{"name", String, false}, {"small", Int32, false}, {"large", Int64, true}, {"time", Time, false}, {"x", Double, true},
		{"note", String, true}}
}

// random returns rows whose columns have runs of a value, few values, and any values.
func random(rng *rand.Rand, rows int) []Column {
	c := make([]Column, 6)
	names := []string{"", "a", "βγ", strings.Repeat("long ", 50)}
	style := rng.IntN(4)
	small, large, at, x := int64(0), int64(0), int64(0), 0.0
	for range rows {
		if style == 0 || rng.IntN(20) == 0 {
			small = int64(int32(rng.Uint32()))
			large = int64(rng.Uint64()) >> rng.IntN(64)
			x = math.Float64frombits(rng.Uint64())
			if rng.IntN(9) == 0 {
				small, large, x = math.MinInt32, math.MinInt64, math.Inf(-1)
			}
			if rng.IntN(9) == 0 {
				small, large, x = math.MaxInt32, math.MaxInt64, math.Copysign(0, -1)
			}
		}
		at += rng.Int64N(1 << (4 * style))
		name := names[rng.IntN(len(names))]
		if style == 1 {
			name = strconv.Itoa(rng.IntN(max(rows, 1)))
		}
		absent := style == 3 || style != 2 && rng.IntN(3) == 0
		null := func(c *Column) { c.Null = append(c.Null, absent) }
		c[0].Strings = append(c[0].Strings, name)
		c[1].Ints = append(c[1].Ints, small)
		c[3].Ints = append(c[3].Ints, at)
		for _, k := range []int{2, 4, 5} {
			null(&c[k])
		}
		if absent {
			c[2].Ints, c[4].Doubles, c[5].Strings = append(c[2].Ints, 0), append(c[4].Doubles, 0), append(c[5].Strings, "")
		} else {
			c[2].Ints, c[4].Doubles, c[5].Strings = append(c[2].Ints, large), append(c[4].Doubles, x), append(c[5].Strings, name+"!")
		}
	}
	return c
}

// encode returns a file with the groups in the order of their numbers, and junk between them.
func encode(t testing.TB, groups [][]Column) []byte {
	t.Helper()
	e, err := NewEncoder(testFields())
	if err != nil {
		t.Fatal(err)
	}
	file := []byte(Magic)
	var list []Group
	for _, columns := range groups {
		b, g, err := e.Encode(columns, len(columns[0].Strings))
		if err != nil {
			t.Fatal(err)
		}
		file = append(file, "junk"...)
		g.Offset = int64(len(file))
		file = append(file, b...)
		list = append(list, *g)
	}
	return append(file, e.Footer(list)...)
}

// decode reads a file.
func decode(file []byte) (groups [][]Column, err error) {
	f, err := Open(bytes.NewReader(file), int64(len(file)), testFields())
	if err != nil {
		return nil, err
	}
	for i := range f.Groups() {
		columns, _, err := f.Read(i)
		if err != nil {
			return nil, err
		}
		groups = append(groups, columns)
	}
	return groups, nil
}

// same compares columns: floats by their bits, and empty columns with columns that are nil.
func same() cmp.Option {
	return cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })}
}

// TestRoundTrip: what was written is read.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		var groups [][]Column
		for range rng.IntN(4) {
			groups = append(groups, random(rng, rng.IntN(1<<rng.IntN(12))+1))
		}
		got, err := decode(encode(t, groups))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(groups, got, same()); d != "" {
			t.Fatal(d)
		}
	}
	if _, _, err := new(Encoder).Encode(nil, MaxRows+1); err == nil {
		t.Error("a group may have more than MaxRows rows")
	}
}

// TestPacked: values of all widths are packed as the format says, the lowest bits first.
func TestPacked(t *testing.T) {
	if got := appendPacked(nil, []uint64{0, 1, 2, 3, 4, 5, 6, 7}, 3); !bytes.Equal(got, []byte{0x88, 0xc6, 0xfa}) {
		t.Errorf("0 to 7 are packed as %x, expected 88c6fa", got)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for width := range 65 {
		values := make([]uint64, 1+rng.IntN(70))
		for i := range values {
			values[i] = rng.Uint64() & (1<<width - 1)
		}
		got := make([]uint64, len(values))
		b := appendPacked(nil, values, width)
		if unpacked(got, b, width); !cmp.Equal(values, got) || len(b) != (len(values)*width+7)/8 {
			t.Errorf("width %d: %d bytes hold %v, expected %v", width, len(b), got, values)
		}
	}
}

// TestOtherReaders: pyarrow and DuckDB read the same values from each kind of column.
func TestOtherReaders(t *testing.T) {
	tools := peer.Tools(t)
	rng := rand.New(rand.NewPCG(5, 6))
	groups := [][]Column{random(rng, 1)}
	for len(groups) < 12 {
		groups = append(groups, random(rng, 300))
	}
	var want [][]any
	for _, c := range groups {
		for i := range c[0].Strings {
			row := []any{c[0].Strings[i], c[1].Ints[i], c[2].Ints[i], c[3].Ints[i], fmt.Sprintf("%016x", math.Float64bits(c[4].Doubles[i])), c[5].Strings[i]}
			for _, k := range []int{2, 4, 5} {
				if c[k].Null[i] {
					row[k] = nil
				}
			}
			want = append(want, row)
		}
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(path, encode(t, groups), 0o666); err != nil {
		t.Fatal(err)
	}
	const script = `
import duckdb, json, pyarrow as pa, pyarrow.parquet as pq, struct, sys
path = sys.argv[1]
def rows(table):
    columns = [table.column(n).cast(pa.int64()) if n == "time" else table.column(n) for n in table.column_names]
    bits = lambda v: struct.pack(">d", v).hex() if isinstance(v, float) else v
    return [[bits(v) for v in row] for row in zip(*(c.to_pylist() for c in columns))]
tables = [pq.read_table(path), duckdb.sql(f"SELECT * FROM '{path}'").to_arrow_table()]
file = pq.ParquetFile(path)
first = file.metadata.row_group(1).column(3).statistics
ordered = duckdb.sql(f"SELECT count(*) FROM '{path}' WHERE large >= 0").fetchall()[0][0]
json.dump({"tables": [rows(t) for t in tables], "schema": str(tables[0].schema), "ordered": ordered,
           "nulls": file.metadata.row_group(1).column(4).statistics.null_count, "max": first.max_raw if hasattr(first, "max_raw") else 0}, sys.stdout)
`
	var got struct {
		Tables  [][][]any
		Schema  string
		Ordered int
		Nulls   int
	}
	d := json.NewDecoder(bytes.NewReader(tools.Run(t, script, nil, path)))
	d.UseNumber()
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	ordered, nulls := 0, 0
	for _, row := range want {
		for k, v := range row {
			if n, ok := v.(int64); ok {
				if row[k] = json.Number(strconv.FormatInt(n, 10)); k == 2 && n >= 0 {
					ordered++
				}
			}
		}
	}
	for _, null := range groups[1][4].Null {
		if null {
			nulls++
		}
	}
	for i, name := range []string{"pyarrow", "DuckDB"} {
		if d := cmp.Diff(want, got.Tables[i]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if got.Ordered != ordered || got.Nulls != nulls {
		t.Errorf("%d rows with large >= 0, %d nulls, expected %d and %d", got.Ordered, got.Nulls, ordered, nulls)
	}
	for _, want := range []string{"name: string not null", "small: int32 not null", "large: int64\n", "time: timestamp[ns, tz=UTC] not null", "x: double\n", "note: string"} {
		if !strings.Contains(got.Schema, want) {
			t.Errorf("the schema lacks %q:\n%s", want, got.Schema)
		}
	}
}

// TestTablesOfOthers: each table that is not ours is one sentence.
func TestTablesOfOthers(t *testing.T) {
	tools := peer.Tools(t)
	dir := t.TempDir()
	const script = `
import os, pyarrow as pa, pyarrow.parquet as pq, sys
os.chdir(sys.argv[1])
rows = {"name": pa.array(["a"]), "small": pa.array([1], pa.int32()), "large": pa.array([1]), "time": pa.array([1], pa.timestamp("ns", "UTC")),
        "x": pa.array([1.0]), "note": pa.array(["b"])}
schema = pa.schema([pa.field(n, v.type, n in ("large", "x", "note")) for n, v in rows.items()])
pq.write_table(pa.table(rows, schema), "codec.parquet", compression="snappy")
pq.write_table(pa.table(rows, schema), "encoding.parquet", compression="gzip")
pq.write_table(pa.table({"name": ["a"]}), "columns.parquet")
pq.write_table(pa.table(rows), "optional.parquet")
`
	tools.Run(t, script, nil, dir)
	for name, want := range map[string]string{
		"codec":    `column "name" of a group of the Parquet file has the wrong type, number of rows or compression`,
		"encoding": "column small: a page of kind 2 has 1 values in encoding 0", "columns": "the Parquet file has 1 columns instead of 6",
		"optional": `column 1 of the Parquet file is "name", of another name or type than "name"`,
	} {
		b, err := os.ReadFile(filepath.Join(dir, name+".parquet"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decode(b); err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), "expected a table that hlocb has written") {
			t.Errorf("%s: error is %v, expected %s", name, err, want)
		}
	}
}

// TestCutFile: a file that was cut while a footer was appended has the rows of the footer before it.
func TestCutFile(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	groups := [][]Column{random(rng, 40)}
	file := encode(t, groups)
	whole := encode(t, append(groups, random(rng, 50)))
	for range 50 {
		cut := append(bytes.Clone(file), whole[len(file)/2:len(file)/2+rng.IntN(len(whole)-len(file)/2-8)]...)
		got, err := decode(cut)
		if err != nil || !cmp.Equal(groups, got, same()) {
			t.Fatalf("%d bytes after the footer: %d groups, %v", len(cut)-len(file), len(got), err)
		}
	}
	if got, err := decode([]byte(Magic)); err != nil || len(got) > 0 {
		t.Errorf("a file without a footer: %d groups, %v", len(got), err)
	}
	for _, text := range []string{"", "PAR", Magic + Magic, Magic + "\x00\x00\x00\x00" + Magic, strings.Repeat(Magic, 1000)} {
		if _, err := decode([]byte(text)); err == nil {
			t.Errorf("%d bytes without a footer are a table", len(text))
		}
	}
}

// FuzzOpen: a damaged file is an error or other rows, and takes little memory.
func FuzzOpen(f *testing.F) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 4 {
		f.Add(encode(f, [][]Column{random(rng, 30), random(rng, 3)}))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		groups, err := decode(file)
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("the error has several lines: %v", err)
		}
		if err == nil {
			for _, g := range groups {
				if len(g[0].Strings) > 0 {
					encode(t, [][]Column{g})
				}
			}
		}
	})
}

// TestDamagedFiles reads files with some bytes changed.
func TestDamagedFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	refused := 0
	var files [][]byte
	for range 20 {
		files = append(files, encode(t, [][]Column{random(rng, 20)}))
	}
	for i := range 2000 {
		file := bytes.Clone(files[i%len(files)])
		for range 1 + rng.IntN(4) {
			file[rng.IntN(len(file))] = byte(rng.Uint32())
		}
		if _, err := decode(file); err != nil {
			refused++
		}
	}
	if refused < 1000 {
		t.Errorf("%d of 2000 damaged files are refused", refused)
	}
}
