// Package chlo is the CHLO dialect: operations of client APIs that StableHLO decomposes, and element-wise
// operations that broadcast their operands.
package chlo
