package vec

// The functions. Their loops are chosen once, since the processor's features do not change.
var (
	ExpLoop      = pick("Exp", Exp)
	Expm1Loop    = pick("Expm1", Expm1)
	LogLoop      = pick("Log", Log)
	LogisticLoop = pick("Logistic", Logistic)
	RsqrtLoop    = pick("Rsqrt", Rsqrt)
	SinLoop      = pick("Sin", Sin)
	CosLoop      = pick("Cos", Cos)
	TanhLoop     = pick("Tanh", Tanh)
)
