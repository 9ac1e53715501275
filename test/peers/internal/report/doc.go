// Package report writes results as Markdown, beside what they depend on: the
// machine, the versions and the command.
package report
