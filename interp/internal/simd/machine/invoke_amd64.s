#include "textflag.h"

// func invoke(entry unsafe.Pointer, table *unsafe.Pointer, n int)
TEXT ·invoke(SB), 0, $8200-24
	MOVQ entry+0(FP), AX
	MOVQ table+8(FP), DI
	MOVQ n+16(FP), SI
	LEAQ spill-8200(SP), R12
	CALL AX
	RET
