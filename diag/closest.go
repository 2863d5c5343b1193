package diag

// Closest returns the name that differs from s in the fewest letters, or "" if every name differs in more than a third.
func Closest(s string, names []string) string {
	best, limit := "", min(3, len(s)/3)+1
	for _, n := range names {
		if d := Distance(s, n, limit); d < limit {
			best, limit = n, d
		}
	}
	return best
}

// Distance returns the number of letters to add, remove, change or swap with a neighbour to turn a into b, at most
// limit.
func Distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit || len(a) > 100 {
		return limit
	}
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return min(prev[len(b)], limit)
}
