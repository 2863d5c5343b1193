package cli

import (
	"context"
	"io"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/opt"
	"github.com/hlocb/hlocb/pass"
)

// translateHLO writes a module as HLO. It keeps HLO unchanged and translates other forms as XLA does. HLO is verified
// only on request: XLA's reader does not infer the types that a text states either.
func (a *app) translateHLO(ctx context.Context, src *diag.Source, out, to string, verify bool) error {
	var m *hlo.Module
	var err error
	if reader.IsHLO(src.Text()) {
		if verify {
			if _, err := reader.Read(src); err != nil {
				return err
			}
		}
		m, err = reader.ReadHLO(src)
	} else {
		m, err = a.toHLO(ctx, src)
	}
	if err != nil {
		return err
	}
	if to != "hlo-proto" {
		return a.WriteFile(out, func(w io.Writer) error {
			return m.WriteText(w, hlo.TextOptions{Short: to == "hlo-short"})
		})
	}
	data, err := m.AppendProto(nil)
	if err != nil {
		return err
	}
	return a.write(out, data)
}

// toHLO reads MLIR or an artifact and translates it to HLO as XLA does.
func (a *app) toHLO(ctx context.Context, src *diag.Source) (*hlo.Module, error) {
	m, err := reader.Read(src)
	if err != nil {
		return nil, err
	}
	prepare, err := pass.Parse("prepare-for-hlo", opt.Passes())
	if err != nil {
		return nil, err
	}
	if err := (&pass.Driver{}).Run(pass.NewContext(ctx, m), prepare); err != nil {
		return nil, err
	}
	return reader.ToHLO(ctx, m)
}
