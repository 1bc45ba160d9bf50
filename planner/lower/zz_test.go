package lower_test
import ("testing";"math/rand/v2";"scrim/planner/lower")
func TestZZ(t *testing.T){ b:=newBinder(t); r:=rand.New(rand.NewPCG(1,7)); mx:=0
for i:=range 1500 { s:=generate(r,'a',1+r.IntN(4)); e,err:=b.bind(s); var a lower.Binder; var x lower.Expr; if err==nil {x,err=lower.Lower(b.ctx,e,&a,resolve)}; if len(x.SQL)>mx {mx=len(x.SQL)}; if i<25 {t.Log(s, err); if i<6{t.Log(x.SQL)}}}
t.Log(mx)}
