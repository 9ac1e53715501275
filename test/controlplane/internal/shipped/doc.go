// Package shipped runs appsvc-controller as it is shipped: built from this repository,
// installed from config/, as its ServiceAccount with its roles.
//
//	Build -> Install -> Controller.Start ... Stop | Kill
//
// Only the Deployment is left out: the program runs beside the test, or the demo, that
// starts it, and ends with it in whatever way that ends.
package shipped
