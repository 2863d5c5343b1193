package plugincheck

import "testing"

func TestExec(t *testing.T) {
	for _, test := range []struct {
		name     string
		target   Target
		verdicts [5]Verdict // FFI, user data, artifact, taps, callbacks
	}{
		{"XLA's CPU plugin", Target{Platform: "cpu", FFI: true, UserData: true, Artifact: "1.13.3"}, [5]Verdict{Yes, Yes, Yes, Yes, Yes}},
		{"no FFI", Target{Platform: "cpu", Artifact: "1.13.3"}, [5]Verdict{No, No, Yes, No, No}},
		{"no user data", Target{Platform: "cpu", FFI: true}, [5]Verdict{Yes, No, Maybe, Yes, No}},
		{"CUDA", Target{Platform: "cuda", FFI: true, UserData: true, Artifact: "99.0.0"}, [5]Verdict{Yes, Yes, Maybe, No, Yes}},
		{"CUDA that copies", Target{Platform: "cuda", FFI: true, UserData: true, Copies: true}, [5]Verdict{Yes, Yes, Maybe, Yes, Yes}},
		{"CPU that copies", Target{Platform: "cpu", FFI: true, UserData: true, Copies: true}, [5]Verdict{Yes, Yes, Maybe, Yes, No}},
		{"another platform", Target{Platform: "mps", FFI: true, UserData: true, Artifact: "1.0.0"}, [5]Verdict{Yes, Yes, Yes, Maybe, Maybe}},
	} {
		for i, f := range Exec(test.target) {
			if f.Verdict != test.verdicts[i] || f.Why == "" {
				t.Errorf("%s: %s is %s, expected %s: %s", test.name, f.Name, f.Verdict, test.verdicts[i], f.Why)
			}
		}
	}
}
