package parse_test
import ("testing";"os";"fmt";"github.com/hlocb/hlocb/parse";"github.com/hlocb/hlocb/print";"github.com/hlocb/hlocb/ir";"github.com/hlocb/hlocb/diag";"github.com/hlocb/hlocb/dialect/fn";"github.com/hlocb/hlocb/dialect/builtin")
func TestZZ(t *testing.T){
 f:=os.Getenv("F"); b,_:=os.ReadFile(f)
 reg,err:=ir.NewRegistry(builtin.Dialect(), fn.Dialect()); if err!=nil {t.Fatal(err)}
 src:=diag.NewSource("-",b)
 m,err:=parse.Parse(src,ir.NewContext(),reg,parse.Options{})
 if err!=nil {t.Fatal(err)}
 o:=print.Options{Generic:os.Getenv("G")!="",DebugInfo:os.Getenv("D")!=""}
 fmt.Print(print.String(m,o))
}
