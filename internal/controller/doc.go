// Package controller keeps the children of AppServices as their specs say.
//
//	AppService --> render --> apply, prune --> health --> status
//	     ^                       |                          |
//	     |                       +--> event, if it wrote    +--> only if it changed
//	     +--- watches: the AppService's spec, labels and annotations; its children
//
// It is thin: what an AppService stands for is decided in pkg/render, whether anything has
// to be written in pkg/diff, and how in pkg/apply. What is left is one file for each phase.
//
// # What is promised
//
//  1. A reconcile in which nothing changed sends no request.
//  2. The spec is never written. Status is, on transitions; mere counts at most every two
//     seconds.
//  3. A spec that cannot be rendered changes no child, and is not tried again before it
//     changes.
//  4. There is no finalizer: children go by garbage collection, and an AppService can be
//     deleted while no controller runs.
//  5. No Secret is read.
package controller
