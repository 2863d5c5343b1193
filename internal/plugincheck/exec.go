package plugincheck

import "github.com/hlocb/hlocb/dialect/vhlo"

// Exec says what 'hlocb exec' can do on a plugin. A verdict of no means that this part passes through unchanged.
func Exec(t Target) []Finding {
	finding := func(name string, v Verdict, why string) Finding {
		return Finding{Kind: "exec", Name: name, Count: 1, Verdict: v, Why: why}
	}
	host, gpu := t.Platform == "cpu", t.Platform == "cuda" || t.Platform == "rocm"
	ffi, data, artifact := finding("FFI", Yes, "the plugin calls handlers"), finding("user data", Yes, "handlers get an execution's functions"),
		finding("artifact", Yes, "programs come as StableHLO "+t.Artifact)
	if !t.FFI {
		ffi = finding("FFI", No, "the plugin has no FFI extension, so it cannot call its host; programs run as they are")
		data = finding("user data", No, "it needs FFI")
	} else if !t.UserData {
		data = finding("user data", No, "the FFI extension cannot attach data to an execution")
	}
	switch {
	case t.Artifact == "":
		artifact = finding("artifact", Maybe, "the plugin does not say which StableHLO it reads; the framework chooses")
	case newer(t.Artifact):
		artifact = finding("artifact", Maybe, "programs come as StableHLO "+t.Artifact+", which is newer than hlocb; those with newer ops run untapped")
	}
	taps := finding("taps", Yes, "values are in the host's memory")
	callbacks := finding("JAX callbacks", Yes, "debug.print, debug.callback, io_callback and pure_callback work without a Python package")
	switch {
	case !t.FFI:
		taps, callbacks = finding("taps", No, "they need FFI"), finding("JAX callbacks", No, "they need FFI")
	case gpu || t.Copies:
		taps = finding("taps", No, "values are not in the host's memory")
		if t.Copies {
			taps = finding("taps", Yes, "values are copied to the host")
		}
		callbacks = finding("JAX callbacks", No, "their handlers need values in the host's memory")
		if gpu {
			callbacks = finding("JAX callbacks", Yes, "JAX serves them itself")
		}
	case !host:
		taps = finding("taps", Maybe, "they work if values on platform "+t.Platform+" are in the host's memory")
		callbacks = finding("JAX callbacks", Maybe, "JAX refuses to lower them for this platform; with 'python -m hlocb.callbacks PROGRAM' they work where taps do")
	case !t.UserData:
		callbacks = finding("JAX callbacks", No, "they need user data")
	}
	return []Finding{ffi, data, artifact, taps, callbacks}
}

// newer reports whether a version of StableHLO is newer than the newest that hlocb reads.
func newer(version string) bool {
	v, err := vhlo.ParseVersion(version)
	return err != nil || vhlo.Current.Less(v)
}
