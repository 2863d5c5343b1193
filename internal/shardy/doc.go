// Package shardy translates between the two forms of a program that Shardy partitions. One has ops and attributes of
// the dialect sdy. In the other, XLA keeps the same facts in frontend attributes, GSPMD shardings and custom calls: in
// HLO and for plugins that do not know the dialect (XLA, service/spmd/shardy/sdy_round_trip).
package shardy
