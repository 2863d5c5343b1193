//go:build !amd64

package vec

func variants(_ string, f *Function) map[string]*Function {
	return map[string]*Function{"Go": f.Portable()}
}
