package launch

import (
	"slices"
	"testing"
)

// TestOnEngine: a program runs on the engine with each framework that can load it. Only JAX gets it unasked.
func TestOnEngine(t *testing.T) {
	l := In("/lib")
	jax := []string{"PJRT_NAMES_AND_LIBRARY_PATHS=cpu:/lib/" + EngineFile, "JAX_PLATFORMS=cpu"}
	if env, err := l.JAXOnEngine(); err != nil || !slices.Equal(env, jax) {
		t.Error(env, err)
	}
	want := append(slices.Clone(jax), "GOMLX_BACKEND=xla:/lib/"+EngineFile, "PJRT_DEVICE=HLOCB", "XLA_IR_DEBUG=1", "XLA_HLO_DEBUG=1")
	if env, err := l.OnEngine(0); err != nil || !slices.Equal(env, want) {
		t.Error(env, err)
	}
	if env, err := l.OnEngine(1 << 20); err != nil || !slices.Equal(env, append(want, "HLOCB_ENGINE_MEMORY=1048576")) {
		t.Error(env, err)
	}
}
