// Package measure runs whole processes by turns and says what each took: the wall
// time from its start to its end, the processor time and the peak memory.
//
// It needs the getrusage of Linux or macOS.
package measure
