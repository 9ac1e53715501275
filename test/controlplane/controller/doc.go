// Package controller tests appsvc-controller as it is shipped: the program, run as its
// ServiceAccount with the roles of config/, against a real Kubernetes.
package controller
