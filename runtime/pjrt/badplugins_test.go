//go:build cgo

package pjrt

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestBadPlugins: whatever is wrong with a plugin is an error that says it, while the backend is opened or a program is
// compiled or run. The command's tests have the cases that end the process.
func TestBadPlugins(t *testing.T) {
	source, err := os.ReadFile(badPlugin(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cases := map[string]string{
		"no table":                "GetPjrtApi returned no table",
		"tiny table":              "its table has 8 bytes",
		"short table":             "its table has no",
		"old":                     "its PJRT API is 0.1, 0.54 or later is needed",
		"too old":                 "its PJRT API is 0.53, 0.54 or later is needed",
		"next major":              "its PJRT API is 1.",
		"no initialize":           "initialize: UNIMPLEMENTED: the table of PLUGIN has no PJRT_Plugin_Initialize",
		"no compile":              "its table has no PJRT_Client_Compile",
		"no devices":              "devices: UNIMPLEMENTED: the table of PLUGIN has no PJRT_Client_AddressableDevices",
		"no upload":               "argument 0: copy argument to device: UNIMPLEMENTED: the table of PLUGIN has no",
		"no client":               "create client: INTERNAL: PLUGIN returned nothing",
		"no program":              "compile: INTERNAL: PLUGIN returned nothing",
		"no results":              "execute: INTERNAL: PLUGIN returned nothing for result 0",
		"no text":                 "platform name: INTERNAL: PLUGIN returned a text of 5 bytes at 0x0",
		"huge text":               "platform version: INTERNAL: PLUGIN returned a text of 1099511627776 bytes at 0x",
		"no list":                 "devices: INTERNAL: PLUGIN returned a list of 7 at 0x0",
		"no types":                "result types: INTERNAL: PLUGIN returned a list of 1 at 0x0",
		"too many types":          "the plugin reports 3 result types and 1 shapes",
		"huge rank":               "result dimensions: INTERNAL: PLUGIN returned a result of 1152921504606846976 dimensions",
		"error with errors":       "compile: UNKNOWN: the plugin says nothing more (the plugin got the program as ",
		"odd type":                "result 0: ",
		"no size":                 "result 0 has no static shape: [-1]",
		"no addressable devices":  "PLUGIN has no devices",
		"no description":          "device: INTERNAL: PLUGIN returned nothing",
		"no id":                   "device id: UNIMPLEMENTED: the table of PLUGIN has no PJRT_DeviceDescription_Id",
		"no ordinal":              "device ordinal: UNIMPLEMENTED: the table of PLUGIN has no PJRT_Device_LocalHardwareId",
		"no kind":                 "device kind: UNIMPLEMENTED: the table of PLUGIN has no PJRT_DeviceDescription_Kind",
		"no text of devices":      "device description: UNIMPLEMENTED: the table of PLUGIN has no PJRT_DeviceDescription_DebugString",
		"no executable":           "executable: INTERNAL: PLUGIN returned nothing",
		"no devices of programs":  "the executable runs on 0 devices, but the client has 0",
		"foreign device":          "the executable runs on 1 devices, but the client has 0",
		"nothing uploaded":        "argument 0: copy argument to device: INTERNAL: PLUGIN returned nothing",
		"nothing copied":          "copy between devices: INTERNAL: PLUGIN returned nothing",
		"no copy":                 "",
		"nothing serialized":      "serialize: INTERNAL: PLUGIN returned 0 bytes at",
		"no serialization":        "PLUGIN cannot serialize programs",
		"no optimized program":    "the plugin does not show optimized programs",
		"empty optimized program": "the plugin does not show optimized programs",
		"no unpadded sizes":       "sizes of result: UNIMPLEMENTED: the table of PLUGIN has no PJRT_Buffer_UnpaddedDimensions",
		"too many sizes":          "sizes of result: INTERNAL: PLUGIN returned 2 sizes of tensor<4xf32>",
		"huge size":               "result 0: the program set the size of dimension 0 beyond its bound of 4",
		"no address":              "result 0: read buffer: INTERNAL: PLUGIN returned no address for 8 bytes",
		"no address function":     "",
		"extensions in a circle":  "",
		"":                        "",
	}
	for _, bad := range slices.Sorted(maps.Keys(cases)) {
		t.Setenv("BAD", bad)
		path := filepath.Join(dir, strings.ReplaceAll(bad, " ", "_")+".so")
		if err := os.WriteFile(path, source, 0o777); err != nil {
			t.Fatal(err)
		}
		err := useAll(t, path, bad)
		want := strings.ReplaceAll(cases[bad], "PLUGIN", path)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is\n%v, expected\n%s", bad, err, want)
		}
	}
}

// useAll opens the plugin in a file and makes each kind of request, until one fails. What is served is right.
func useAll(t *testing.T, path, name string) error {
	b, err := Open(path, Options{})
	if err != nil {
		return err
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}()
	compile := func(p *runtime.Program) (*Executable, func(), error) {
		e, err := b.Compile(context.Background(), p, runtime.CompileOptions{})
		if err != nil {
			return nil, nil, err
		}
		return e.(*Executable), func() { e.Close() }, nil
	}
	run := func(e *Executable, want string, args ...*tensor.Tensor) error {
		out, err := e.Run(context.Background(), args)
		if err == nil && floats(out...) != want {
			t.Errorf("%s: result is %s, expected %s", name, floats(out...), want)
		}
		return err
	}
	e, end, err := compile(doubled())
	if err != nil {
		return err
	}
	defer end()
	if err := run(e, "tensor<2xf32>[2 4]", f32(tensor.Shape{2}, 1, 2)); err != nil {
		return err
	}
	m, err := b.Upload(context.Background(), f32(nil, 5), runtime.Placement{})
	if err != nil {
		return err
	}
	defer m.Release()
	c, err := b.CopyMemory(context.Background(), m, runtime.Placement{})
	if err != nil {
		return err
	}
	defer c.Release()
	if v, err := c.Read(); err != nil || floats(v) != "tensor<f32>[5]" {
		t.Errorf("%s: the copy is %v: %v", name, v, err)
	}
	if _, err := e.Save(); err != nil {
		return err
	}
	if _, err := e.AliasUses(); err != nil {
		return err
	}
	const bounded = "tensor<?xf32, #stablehlo.bounds<4>>"
	dynamic, end, err := compile(program("(%x: tensor<4xf32>, %n: tensor<i32>) -> "+bounded, `%r = "stablehlo.set_dimension_size"(%x, %n) {dimension = 0 : i64} : (tensor<4xf32>, tensor<i32>) -> `+bounded+"\nreturn %r : "+bounded+"\n"))
	if err != nil {
		return err
	}
	defer end()
	n := tensor.New(tensor.I32, nil)
	n.SetInt(0, 3)
	return run(dynamic, "tensor<3xf32>[1 2 3]", f32(tensor.Shape{4}, 1, 2, 3, 4), n)
}

// TestHiddenShardings: if a plugin does not show how it partitioned a program, main's shardings say it.
func TestHiddenShardings(t *testing.T) {
	source := badPlugin(t)
	t.Setenv("BAD", "no optimized program")
	b, err := Open(source, Options{Devices: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	const halves, whole = `{mhlo.sharding = "{devices=[2]0,1}"}`, `{mhlo.sharding = "{replicated}"}`
	for _, c := range []struct{ x, y, result, want string }{
		{halves, whole, halves, "tensor<4xf32>[2 4 6 8]"},
		{halves, whole, whole, "tensor<4xf32>[2 4 6 8]"},
		{whole, halves, "", "tensor<4xf32>[2 4 6 8]"},
	} {
		p := &runtime.Program{Module: mustParse(`module @m attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main(%x: tensor<4xf32> ` + c.x + `, %y: tensor<2xf32> ` + c.y + `) -> (tensor<4xf32> ` + c.result + `) {
%r = stablehlo.add %x, %x : tensor<4xf32>
return %r : tensor<4xf32>
}
}
`)}
		e, err := b.Compile(context.Background(), p, runtime.CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		out, err := e.Run(context.Background(), []*tensor.Tensor{f32(tensor.Shape{4}, 1, 2, 3, 4), f32(tensor.Shape{2}, 5, 6)})
		got := floats(out...)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %s, expected %s", c, got, c.want)
		}
		s := e.Signature()
		if s.Results[0].Type.String() != "tensor<4xf32>" || s.Arguments[0].Place.Parts() != 2 || s.Arguments[0].Place.Whole() != (c.x == whole) || s.Arguments[1].Place.Whole() != (c.y == whole) {
			t.Errorf("%+v: the signature is %+v", c, s)
		}
		e.Close()
	}
	// Without main's shardings, or with one that cannot be read, arguments cannot be partitioned.
	e := &Executable{backend: b, parts: 2}
	shape := shapeOf(parsed(t, "func.func @main(%x: tensor<4xf32> {mhlo.sharding = \"{devices=[3]0,1,2}\"}) -> tensor<4xf32> {\nreturn %x : tensor<4xf32>\n}\n").Module)
	l := &loadedProgram{client: &Client{plugin: b.plugin}, results: []hook.TensorType{tt(tensor.F32, 4)}}
	if e.findShardings(l, shape); e.argShardings != nil || e.shardingErr == nil {
		t.Errorf("shardings are %v: %v", e.argShardings, e.shardingErr)
	}
	if _, err := e.run(context.Background(), &request{}); err != e.shardingErr {
		t.Errorf("error of a run is %v, expected %v", err, e.shardingErr)
	}
	e = &Executable{backend: b, parts: 2}
	shape = shapeOf(parsed(t, "func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {\nreturn %x, %x : tensor<4xf32>, tensor<4xf32>\n}\n").Module)
	if e.findShardings(l, shape); e.shardingErr == nil || e.shardingErr.Error() != "the program returns 1 results, main has 2" {
		t.Errorf("error is %v", e.shardingErr)
	}
	e = &Executable{backend: b, parts: 2}
	if e.findShardings(l, moduleShape{}); e.argShardings != nil || e.shardingErr != nil {
		t.Errorf("without main, shardings are %v: %v", e.argShardings, e.shardingErr)
	}
}
