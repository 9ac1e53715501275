// Package crd holds the CustomResourceDefinition of AppService and says, without
// a cluster, what the API server would say of an AppService.
//
//	map[string]any --> metadata, unknown fields, nulls, defaults --> schema --> list keys --> CEL rules --> Verdict
//
// It promises the API server's verdict: the same libraries check the same schema
// in the same order, so that what [Validator.Validate] accepts can be created
// with fieldValidation=Strict, and what it refuses cannot. Where the API server
// stops at the first stage that finds something, the package goes on and reports
// all faults at once. What is no business of the schema (admission, quotas, the
// size of a request) is not looked at, and neither is text: that a key stands
// twice is for whoever decodes it to say.
//
// For tests, [Cases] gives AppServices on both sides of each rule of the schema.
//
// Linking the package costs the start-up of its libraries, but nothing here runs
// until it is called: [YAML] and [JSONSchema] read the embedded definition,
// [NewValidator] parses it, and the first validation that needs the CEL rules
// compiles them.
package crd
