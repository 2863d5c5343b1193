package special

func logistic(v float64) float64 { return 1 / (1 + exp(-v)) }
