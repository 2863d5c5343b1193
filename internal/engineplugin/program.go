//go:build cgo

package engineplugin

// #include <stdlib.h>
// #include <string.h>
// #include "objects.h"
import "C"

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/cgo"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/internal/sharding"
	"github.com/hlocb/hlocb/internal/shardy"
	"github.com/hlocb/hlocb/internal/xlatypes"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/interpose"
	"github.com/hlocb/hlocb/runtime/pjrt"
	"github.com/hlocb/hlocb/tensor"
)

// program is a compiled program.
type program struct {
	plugin          *plugin
	prepared        *interpose.Prepared
	exe             *interp.Executable
	runs            atomic.Int64
	params, results []value
	replicas        int
	partitions      int  // of each replica
	foreign         bool // handlers of the XLA FFI compute some of its calls
}

// value is a parameter or a result of main.
type value struct {
	token bool
	dtype tensor.DType
	whole tensor.Shape
	shard tensor.Shape       // on each device
	cut   *sharding.Sharding // nil: every device holds the whole value
}

// compile compiles a program and describes it in e.
func (p *plugin) compile(e *C.he_executable, code []byte, form string, options []byte) error {
	if form != "mlir" && form != "hlo" {
		return &argumentError{fmt.Sprintf("a program in the format %q; hlocb's engine reads mlir and hlo", form)}
	}
	opts, err := readOptions(options)
	if err != nil {
		return err
	}
	m, err := reader.Read(diag.NewSource("program", code))
	if err != nil {
		return err
	}
	name := cmp.Or(view.String(m.Op().Attr(ir.SymbolName)), "program")
	interpose.SetDevices(m, options)
	replicas, partitions := mhlo.Devices(m)
	replicas, partitions = max(replicas, 1), max(partitions, 1)
	devices, err := opts.devices(int(e.client.num_devices), replicas, partitions)
	if err != nil {
		return err
	}
	out := &program{plugin: p, replicas: replicas, partitions: partitions}
	p.setApart(m)
	interposer := p.interposer.Load()
	if out.prepared, err = interposer.Prepare(m, options); err != nil {
		return err
	}
	donors, err := out.signature(m)
	if err != nil {
		return err
	}
	manifest, err := format.MarkAsWritten(m, format.RaiseOptions{})
	if err != nil {
		return err
	}
	bindings, err := out.prepared.Bind(manifest, func(index uint64, token bool) runtime.Handler { return pythonCallback{index, token} })
	if err != nil {
		return err
	}
	exe, err := interp.New(interp.Options{Memory: p.pool, Targets: out.kernel}).Compile(context.Background(), &runtime.Program{Module: m, Manifest: manifest}, runtime.CompileOptions{Handlers: bindings})
	if err != nil {
		return err
	}
	out.exe = exe.(*interp.Executable)

	sum := sha256.New()
	for _, part := range [][]byte{[]byte(p.host.Version), []byte(interposer.Settings()), []byte(form), options, code} {
		fmt.Fprintf(sum, "%d ", len(part))
		sum.Write(part)
	}
	e.name, e.fingerprint = C.CString(name), C.CString(hex.EncodeToString(sum.Sum(nil)))
	e.replicas, e.partitions = C.int32_t(replicas), C.int32_t(partitions)
	e.hooks = C.bool(len(manifest.Sites) > 0 || out.foreign)
	e.text, e.text_size = (*C.char)(C.CBytes(code)), C.size_t(len(code))
	e.options, e.options_size = (*C.char)(C.CBytes(options)), C.size_t(len(options))
	e.format = C.CString(form)
	e.num_devices = C.size_t(len(devices))
	e.devices = (**C.he_device)(calloc(len(devices), unsafe.Sizeof(e.devices)))
	e.logical = (*C.hl_logical_id)(calloc(len(devices), unsafe.Sizeof(C.hl_logical_id{})))
	for i, d := range devices {
		unsafe.Slice(e.devices, len(devices))[i] = unsafe.Slice(e.client.device_list, int(e.client.num_devices))[d]
		unsafe.Slice(e.logical, len(devices))[i] = C.hl_logical_id{replica: C.int32_t(i / partitions), partition: C.int32_t(i % partitions)}
	}
	e.parameters, e.num_parameters = describe(out.params, partitions)
	for i, d := range donors {
		unsafe.Slice(e.parameters, len(donors))[i].donated = C.bool(d)
	}
	e.results, e.num_results = describe(out.results, partitions)
	C.he_executable_lists(e)
	e.program = C.uintptr_t(cgo.NewHandle(out))
	return nil
}

// shown returns a program in the form that clients convert to HLO: MLIR, with GSPMD's shardings instead of Shardy's
// ops.
func shown(code []byte) ([]byte, error) {
	m, err := reader.Read(diag.NewSource("program", code))
	if err != nil {
		return nil, err
	}
	switch {
	case shardy.Used(m):
		if err := shardy.Export(m, nil); err != nil {
			return nil, err
		}
	case !hlo.IsProto(code):
		return code, nil
	}
	return print.Append(nil, m, reader.Written(m, print.Options{ListBooleans: true})), nil
}

// unimplementedError says what the engine cannot run.
type unimplementedError struct{ text string }

func (e *unimplementedError) Error() string { return e.text }

func calloc(n int, size uintptr) unsafe.Pointer { return C.calloc(C.size_t(max(n, 1)), C.size_t(size)) }

// describe makes C's list of the types of parameters or results.
func describe(values []value, partitions int) (*C.he_type, C.size_t) {
	list := (*C.he_type)(calloc(len(values), unsafe.Sizeof(C.he_type{})))
	for i, v := range values {
		t := &unsafe.Slice(list, len(values))[i]
		if v.token {
			t._type = C.HL_TYPE_TOKEN
		} else {
			t._type = C.int32_t(xlatypes.BufferCode(v.dtype))
			t.size = C.size_t(int(v.shard.NumElements()) * v.dtype.Size())
		}
		t.num_dims = C.size_t(len(v.shard))
		t.dims = (*C.int64_t)(calloc(len(v.shard), 8))
		for d, n := range v.shard {
			unsafe.Slice(t.dims, len(v.shard))[d] = C.int64_t(n)
		}
		proto := opSharding(v.cut, len(v.whole), partitions)
		t.sharding, t.sharding_size = (*C.char)(calloc(len(proto)+1, 1)), C.size_t(len(proto))
		copy(unsafe.Slice((*byte)(unsafe.Pointer(t.sharding)), len(proto)), proto)
	}
	return list, C.size_t(len(values))
}

// signature reads the parameters and results of main, and which parameters are donated.
func (p *program) signature(m *ir.Module) (donors []bool, err error) {
	main, ok := fn.Lookup(m, "main")
	if !ok {
		return nil, errors.New("the module has no function @main")
	}
	read := func(kind string, i int, t ir.Type, cut func() (*sharding.Sharding, error)) (v value, err error) {
		if stablehlo.IsToken(t) {
			return value{token: true}, nil
		}
		tt, ok := t.(*ir.TensorType)
		if ok {
			v.dtype, v.whole = tt.DType(), tt.Shape()
		}
		if !ok || !tt.Static() || xlatypes.BufferCode(v.dtype) == 0 {
			return v, &unimplementedError{fmt.Sprintf("%s %d of @main has type %s; hlocb's engine runs programs whose parameters and results are tensors of static shape", kind, i, t)}
		}
		v.shard = v.whole
		if p.partitions == 1 {
			return v, nil
		}
		if v.cut, err = cut(); err != nil {
			return v, fmt.Errorf("%s %d of @main: %w", kind, i, err)
		}
		if v.cut.Whole() {
			v.cut = nil
			return v, nil
		}
		v.shard, err = v.cut.ShardShape(v.whole)
		return v, err
	}
	for i, t := range main.Type().Inputs() {
		v, err := read("parameter", i, t, func() (*sharding.Sharding, error) { return shardy.ValueSharding(m, main.ArgAttrs(i), p.partitions) })
		if err != nil {
			return nil, err
		}
		_, donor := main.Donation(i)
		p.params, donors = append(p.params, v), append(donors, donor && !v.token)
	}
	var follow []*sdy.Sharding // the shardings of the results
	if p.partitions > 1 {
		follow = shardy.ResultShardings(m)
	}
	for i, t := range main.Type().Results() {
		v, err := read("result", i, t, func() (*sharding.Sharding, error) {
			s, err := shardy.ValueSharding(m, main.ResultAttrs(i), p.partitions)
			if err != nil || !s.Whole() || follow[i] == nil {
				return s, err
			}
			return shardy.Resolve(m, follow[i], p.partitions)
		})
		if err != nil {
			return nil, err
		}
		p.results = append(p.results, v)
	}
	return donors, nil
}

// quickRun is the longest run that stays on the caller's thread. A run on the queue's goroutine costs the caller less
// time than that, but its result arrives some 10 µs later.
const quickRun = 100 * time.Microsecond

// run executes the program once.
func (p *program) run(r *C.he_run) error {
	n, devices := len(p.params), int(r.num_devices)
	held := unsafe.Slice(r.arguments, n*devices)
	for _, v := range held {
		if e := v.event.error; e != nil {
			return errors.New(C.GoString(C.he_message(e)))
		}
	}
	start := time.Now()
	args, donated := make([][]*tensor.Tensor, p.replicas), make([]bool, 0, n)
	for replica := range args {
		var err error
		if args[replica], err = p.arguments(held[replica*p.partitions*n:][:n*p.partitions]); err != nil {
			return err
		}
	}
	for i := range p.params {
		if p.params[i].token {
			continue
		}
		own := devices == 1 && bool(unsafe.Slice(r.own, n)[i]) && bool(held[i].pooled) && C.he_sole(held[i]) != 0
		if own {
			held[i].pooled = false // the memory is the engine's now
		}
		donated = append(donated, own)
	}
	p.prepared.Take(p.runs.Add(1), args[0])
	ctx := context.WithValue(context.Background(), runKey{}, r)
	var results [][]*tensor.Tensor
	var err error
	if p.replicas == 1 {
		results = make([][]*tensor.Tensor, 1)
		results[0], err = p.exe.RunOwned(ctx, args[0], donated)
	} else {
		results, err = p.exe.RunReplicas(ctx, args)
	}
	if err != nil {
		p.prepared.Failed(err)
		return err
	}
	for replica, list := range results {
		next := 0
		for i := range p.results {
			v := &p.results[i]
			if v.token {
				continue
			}
			t := list[next]
			next++
			if err != nil {
				p.plugin.free(t)
				continue
			}
			err = p.store(r, replica, i, v, t)
		}
	}
	r.executable.quick = C.bool(time.Since(start) < quickRun)
	return err
}

// arguments returns the arguments of a replica as whole values. held are those of its partitions.
func (p *program) arguments(held []*C.he_value) ([]*tensor.Tensor, error) {
	n := len(p.params)
	args := make([]*tensor.Tensor, 0, n)
	for i := range p.params {
		v := &p.params[i]
		if v.token {
			continue
		}
		if v.cut == nil {
			args = append(args, tensorAt(held[i], v.dtype, v.whole))
			continue
		}
		shards := make([]*tensor.Tensor, p.partitions)
		for d := range shards {
			shards[d] = tensorAt(held[d*n+i], v.dtype, v.shard)
		}
		whole, err := v.cut.Join(shards, v.whole)
		if err != nil {
			return nil, err
		}
		args = append(args, whole)
	}
	return args, nil
}

// store makes a result of a replica the value of its devices.
func (p *program) store(r *C.he_run, replica, i int, v *value, t *tensor.Tensor) error {
	n, start := len(p.results), replica*p.partitions // the replica's first device
	outs := unsafe.Slice(r.results, n*int(r.num_devices))[start*n:]
	if v.cut == nil {
		payload := t.Peek()
		if len(payload) == 0 { // NumPy wants an address
			var err error
			if payload, err = p.plugin.pool.Alloc(0); err != nil {
				return err
			}
		}
		set(outs[i], payload)
		for d := 1; d < p.partitions; d++ {
			C.he_run_share(r, C.size_t(start+d), C.size_t(start), C.size_t(i))
		}
		return nil
	}
	defer p.plugin.free(t)
	first := map[string]int{} // the first device with a shard
	for d := range p.partitions {
		key := v.cut.Key(d)
		if from, ok := first[key]; ok {
			C.he_run_share(r, C.size_t(start+d), C.size_t(start+from), C.size_t(i))
			continue
		}
		first[key] = d
		payload, err := p.plugin.pool.Alloc(int(v.shard.NumElements()) * v.dtype.Size())
		if err != nil {
			return err
		}
		clear(payload)
		shard, err := tensor.FromBytes(v.dtype, v.shard, payload)
		if err != nil {
			return err
		}
		v.cut.Take(shard, t, d)
		set(outs[d*n+i], payload)
	}
	return nil
}

func (p *plugin) free(t *tensor.Tensor) {
	if b := t.Peek(); len(b) > 0 {
		p.pool.Free(b)
	}
}

func set(v *C.he_value, payload []byte) {
	v.data, v.size, v.pooled = unsafe.Pointer(unsafe.SliceData(payload)), C.size_t(len(payload)), true
}

// tensorAt returns a view of a value's memory.
func tensorAt(v *C.he_value, d tensor.DType, shape tensor.Shape) *tensor.Tensor {
	t := &tensor.Tensor{}
	t.Borrow(d, shape, unsafe.Slice((*byte)(v.data), int(shape.NumElements())*d.Size()))
	return t
}

// ---- JAX's callbacks ----

// pythonCallback is the handler of a hook that represents a Python function of JAX.
type pythonCallback struct {
	index uint64
	token bool // the function accepts and returns a token first
}

// Handle implements runtime.Handler.
func (h pythonCallback) Handle(ctx context.Context, c *runtime.Call) error {
	operands, results := c.Operands, c.Results
	if h.token {
		operands, results = append([]*tensor.Tensor{nil}, operands...), append([]*tensor.Tensor{nil}, results...)
	}
	var functions unsafe.Pointer
	if c := runOf(ctx).context; c != nil {
		functions = c.functions
	}
	return pjrt.CallPython(functions, h.index, operands, results)
}
